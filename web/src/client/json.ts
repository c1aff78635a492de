const SPACE = /[\t\n\r ]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/sy;
const SCALAR = /[^\s,\]}]+/y;

/**
 * The JSON text of one member of a JSON object, exactly as it was sent; undefined when it is absent.
 * JSON.parse would round numbers above 2^53. `object` must be valid JSON: parse it first.
 */
export function memberText(object: string, member: string): string | undefined {
  let at = after(SPACE, object, 0) + 1;
  let found: string | undefined;
  for (;;) {
    at = after(SPACE, object, at);
    if (object[at] !== '"') return found;
    const nameEnd = after(STRING, object, at);
    const name: unknown = JSON.parse(object.slice(at, nameEnd));
    at = after(SPACE, object, after(SPACE, object, nameEnd) + 1);
    const end = valueEnd(object, at);
    if (name === member) found = object.slice(at, end);
    at = after(SPACE, object, end);
    if (object[at] !== ',') return found;
    at += 1;
  }
}

function valueEnd(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return after(STRING, json, start);
  if (first !== '{' && first !== '[') return after(SCALAR, json, start);
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const char = json[at];
    if (char === '"') at = after(STRING, json, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return json.length;
}

/** Where a sticky pattern's match from `at` ends; `at` itself when it does not match. */
function after(pattern: RegExp, json: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(json) ? pattern.lastIndex : at;
}
