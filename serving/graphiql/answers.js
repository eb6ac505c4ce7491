// Variables from earlier answers: "<Name.path>" is the value at a path in the last answer to the operation Name.

const PLACEHOLDER = /^<(\w+)\.([\w.]+)>$/;
const MOST_ANSWERS = 50; // the oldest one is dropped then

const answers = new Map(); // data by the name of the operation

/** Keep the data of an answer. */
export function remember(name, data) {
  if (!name || !data) return;
  answers.delete(name);
  answers.set(name, data);
  if (answers.size > MOST_ANSWERS) answers.delete(answers.keys().next().value);
}

/** Return variables in which each placeholder is replaced; throws an Error that names the operation to run first. */
export function filled(value) {
  if (Array.isArray(value)) return value.map(filled);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, filled(part)]));
  }
  const found = typeof value === "string" && PLACEHOLDER.exec(value);
  return found ? answered(found[1], found[2], value) : value;
}

function answered(name, path, placeholder) {
  if (!answers.has(name)) throw new Error(`Run ${name} first: the variable ${placeholder} is taken from its answer.`);
  const value = path.split(".").reduce((part, key) => part?.[key], answers.get(name));
  if (value === undefined || value === null) throw new Error(`The last answer to ${name} has nothing at ${path}.`);
  return value;
}
