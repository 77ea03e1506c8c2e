"""The environments under Gymnasium's names."""

import functools

import gymnasium

TASKS = {
    "NetHackLab-v0": "nethack_lab.env.base:NetHackEnv",
    **{
        f"NetHackLab-{task}-v0": f"nethack_lab.env.tasks:NetHack{task}"
        for task in ("Score", "Staircase", "StaircasePet", "Oracle", "Gold", "Eat", "Scout", "Challenge")
    },
}


def _make_vector(entry_point, **kwargs):
    from nethack_lab import vector

    return vector.make(entry_point, **kwargs)


def register():
    """Registers all of them, once."""
    for name, entry_point in TASKS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point=entry_point,
                vector_entry_point=functools.partial(_make_vector, entry_point),
                order_enforce=False,
                disable_env_checker=True,
            )
