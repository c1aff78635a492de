/** How far charts reach that stand side by side: all of one name have the scale of the furthest. */
export class Common {
  readonly #reaches = new Map<string, Map<object, number>>();
  readonly #changed: () => void;

  /** `changed` is called when the others have to be drawn anew. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Takes how far the values of one of these charts go; gives how far its scale is to go. */
  reach(name: string, whose: object, value: number): number {
    const reaches = this.#reaches.get(name) ?? new Map<object, number>();
    this.#reaches.set(name, reaches);
    const before = reaches.get(whose);
    reaches.set(whose, value);
    if (before !== value) this.#changed();
    return Math.max(...reaches.values());
  }
}
