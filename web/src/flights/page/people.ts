/** Somebody who may ask, with the token that says so. */
export interface Person {
  readonly label: string;
  readonly token: string;
  readonly client: string;
  /** Origin airports this person may see. */
  readonly scope: readonly string[];
  /** Sees every airport. */
  readonly staff: boolean;
}

/** There is nobody to ask as; the message says what to do. */
export class NobodyError extends Error {}

const FILE = 'users.json';

/** The people of `users.json` beside the page. Throws NobodyError when there are none. */
export async function loadPeople(): Promise<Person[]> {
  const url = new URL(FILE, document.baseURI);
  const response = await fetch(url, { cache: 'no-cache' });
  if (!response.ok)
    throw new NobodyError(`${FILE} was not found beside this page (HTTP ${response.status}).`);
  let people: unknown;
  try {
    people = await response.json();
  } catch {
    throw new NobodyError(`${FILE} beside this page is not JSON.`);
  }
  if (!Array.isArray(people) || people.length === 0 || !people.every(isPerson)) {
    throw new NobodyError(`${FILE} must be a list of {label, token, client, scope, staff}.`);
  }
  return people;
}

function isPerson(value: unknown): value is Person {
  if (typeof value !== 'object' || value === null) return false;
  const { label, token, client, scope, staff } = value as Record<string, unknown>;
  const texts = [label, token, client].every((text) => typeof text === 'string' && text !== '');
  return texts && Array.isArray(scope) && typeof staff === 'boolean';
}

/** "Cleo (northwind: LGA)" → "Cleo". */
export function firstName(label: string): string {
  return label.split(' ')[0] ?? label;
}
