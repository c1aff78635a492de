import { Window } from 'happy-dom';

// A document for React, and no more: requests are still those of Node, without a browser's rules.
const window = new Window();
const { document, navigator } = window;
for (const [name, value] of Object.entries({ window, document, navigator })) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
