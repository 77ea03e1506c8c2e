// Small helpers. Text from the game only ever becomes text nodes.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** Makes an element: its class, its children as text or elements. */
export function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined).map(asNode));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Makes an SVG element from its attributes and children. */
export function draw(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.map(asNode));
  return element;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/** Sets an element's text, if it is another. */
export function say(element, text) {
  const wanted = text === null || text === undefined ? "" : String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

/** A number with its thousands apart. */
export const grouped = (number) => Number(number).toLocaleString("en").replaceAll(",", "\u2009");

/** Asks for JSON; throws an error with `status`, and the server's `code`, where the answer is none. */
export async function ask(path, options = {}) {
  const response = await fetch(path, { cache: "no-store", ...options });
  if (!response.ok) {
    const { message, code } = await reason(response);
    const error = new Error(message);
    error.status = response.status;
    error.code = code;
    throw error;
  }
  return response.json();
}

async function reason(response) {
  try {
    const { message, code } = (await response.json()).error;
    return { message, code };
  } catch {
    return { message: `the server answers ${response.status}` };
  }
}
