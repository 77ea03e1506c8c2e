use lab::State;

/// How much the tree looks at what it has tried little, where the range of values is 1.
const CURIOSITY: f64 = 0.25;

/// A tree of what may happen.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    actions: usize,
    /// The least and the greatest value so far.
    range: (f64, f64),
}

struct Node {
    state: State,
    edges: Vec<Edge>,
}

/// An action in a node: each outcome of it is one throw of the dice.
#[derive(Clone, Default)]
struct Edge {
    visits: u32,
    total: f64,
    outcomes: Vec<usize>,
}

/// The way to an action of which an outcome is to be tried.
pub(crate) struct Leaf {
    way: Vec<(usize, usize)>,
    pub(crate) state: State,
    pub(crate) action: usize,
}

impl Tree {
    pub(crate) fn new(root: State, actions: usize) -> Self {
        Self { nodes: vec![Node { state: root, edges: vec![Edge::default(); actions] }], actions, range: (0.0, 1e-9) }
    }

    /// Walks down to an action that wants another outcome. Its visit is counted at once, as if it came to nothing, so
    /// that the next walk of the same round looks elsewhere.
    pub(crate) fn select(&mut self) -> Leaf {
        let mut way = Vec::new();
        let mut at = 0;
        loop {
            let span = self.range.1 - self.range.0;
            let node = &mut self.nodes[at];
            let action = node.choice(span);
            let edge = &mut node.edges[action];
            edge.visits += 1;
            way.push((at, action));
            // The more an action is tried, the more throws of the dice it is given.
            let wanted = f64::from(edge.visits).sqrt().ceil() as usize;
            if edge.outcomes.len() < wanted {
                return Leaf { way, state: node.state.clone(), action };
            }
            at = edge.outcomes[edge.visits as usize % edge.outcomes.len()];
        }
    }

    /// Takes in what a leaf has come to; without a state, when the game has ended there.
    pub(crate) fn learn(&mut self, leaf: &Leaf, state: Option<State>, value: f64) {
        self.range = (self.range.0.min(value), self.range.1.max(value));
        for &(node, action) in &leaf.way {
            self.nodes[node].edges[action].total += value;
        }
        if let (Some(state), Some(&(node, action))) = (state, leaf.way.last()) {
            let number = self.nodes.len();
            self.nodes.push(Node { state, edges: vec![Edge::default(); self.actions] });
            self.nodes[node].edges[action].outcomes.push(number);
        }
    }

    /// Visits and mean value of each action at the root.
    pub(crate) fn values(&self) -> Vec<(u32, f64)> {
        self.nodes[0].edges.iter().map(|edge| (edge.visits, edge.mean())).collect()
    }
}

impl Node {
    /// The action of the greatest upper bound; of equals, the first.
    fn choice(&self, span: f64) -> usize {
        let visits: u32 = self.edges.iter().map(|edge| edge.visits).sum();
        let bound = |edge: &Edge| match edge.visits {
            0 => f64::INFINITY,
            own => edge.mean() / span + CURIOSITY * (f64::from(visits).ln() / f64::from(own)).sqrt(),
        };
        let bounds = self.edges.iter().map(bound).enumerate();
        bounds.fold((0, f64::NEG_INFINITY), |best, here| if here.1 > best.1 { here } else { best }).0
    }
}

impl Edge {
    fn mean(&self) -> f64 {
        if self.visits == 0 { 0.0 } else { self.total / f64::from(self.visits) }
    }
}
