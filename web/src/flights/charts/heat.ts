import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { DELAY, legend, legends, paint, type Scale } from '../look/scales.js';
import { shared } from '../look/styles.js';

/** Rows of coloured cells under one row of columns. */
export interface HeatData {
  readonly columns: readonly string[];
  readonly rows: readonly HeatRow[];
}

export interface HeatRow {
  readonly name: string;
  /** In full, where the name is short. */
  readonly title: string;
  /** One for each column; null where nothing flew. */
  readonly cells: readonly (HeatCell | null)[];
}

export interface HeatCell {
  readonly value: number | null;
  /** What stands in the cell. */
  readonly text: string;
  /** All of it in words. */
  readonly words: string;
}

/** Where a cell stands. */
export interface HeatPlace {
  readonly row: number;
  readonly column: number;
}

/** A grid of colours, read by pointer or arrow keys; where it is choosable, a cell fires `choose`. */
export class HeatGrid extends LitElement {
  static override properties = {
    data: { attribute: false },
    scale: { attribute: false },
    label: {},
    choosable: { type: Boolean },
    at: { state: true },
    seen: { state: true },
  };
  data: HeatData = { columns: [], rows: [] };
  scale: Scale = DELAY;
  /** The grid's name. */
  label = '';
  choosable = false;
  /** The one cell that Tab comes to. */
  at: HeatPlace = { row: 0, column: 0 };
  /** The cell that is read out. */
  seen: HeatPlace | null = null;

  static override styles = [
    shared,
    legends,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-width: 0;
        min-height: 0;
      }
      .scroll {
        flex: 1;
        min-height: 0;
        overflow: auto;
        container-type: size;
      }
      @container (max-width: 440px) {
        thead th {
          font-size: 9.5px !important;
        }
      }
      table {
        width: 100%;
        height: 100%;
        border-spacing: 2px;
        table-layout: fixed;
        font-size: 12px;
        line-height: 1.25;
        font-variant-numeric: tabular-nums;
      }
      th {
        padding: 0;
        overflow: hidden;
        color: var(--soft);
        font-weight: 500;
        white-space: nowrap;
      }
      thead th {
        font-size: 11px;
      }
      tbody th {
        text-overflow: ellipsis;
        padding-inline-end: 6px;
        text-align: start;
      }
      col.name {
        width: var(--name-width, 3em);
      }
      td {
        padding: 0;
        border-radius: 3px;
        text-align: center;
      }
      td.empty {
        background: none;
      }
      :host([choosable]) td:not(.empty) {
        cursor: pointer;
      }
      td:hover,
      td:focus-visible {
        outline: 2px solid var(--ink);
        outline-offset: 0;
      }
    `,
  ];

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('data')) return;
    this.seen = null;
    const { row, column } = this.at;
    if (row >= this.data.rows.length || column >= this.data.columns.length) this.at = { row: 0, column: 0 };
  }

  override render(): TemplateResult {
    const { columns, rows } = this.data;
    const read = this.seen && rows[this.seen.row]?.cells[this.seen.column];
    return html`
      <div class="scroll">
        <table role="grid" aria-label=${this.label} aria-readonly="true" @keydown=${this.#key} @pointerleave=${() => this.#read(null)}>
          <colgroup><col class="name" />${columns.map(() => html`<col />`)}</colgroup>
          <thead>
            <tr>
              <td class="empty"></td>
              ${columns.map((name) => html`<th scope="col">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              ({ name, title, cells }, row) => html`<tr>
                <th scope="row" title=${title}>${name}</th>
                ${cells.map((cell, column) => this.#cell(cell, { row, column }))}
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${legend(this.scale, read?.words ?? null, 'Point at a cell, or use the arrow keys.')}
    `;
  }

  #cell(cell: HeatCell | null, place: HeatPlace): TemplateResult {
    const first = place.row === this.at.row && place.column === this.at.column;
    return html`<td
      role="gridcell"
      class=${cell ? '' : 'empty'}
      style=${cell ? paint(this.scale, cell.value) : ''}
      tabindex=${first ? 0 : -1}
      aria-label=${cell?.words ?? 'nothing flew'}
      @focus=${() => this.#read(place)}
      @blur=${() => this.#read(null)}
      @pointerenter=${() => this.#read(place)}
      @click=${() => cell && this.#choose(place)}
    >${cell?.text ?? ''}</td>`;
  }

  #read(place: HeatPlace | null): void {
    this.seen = place;
  }

  #choose(place: HeatPlace): void {
    if (this.choosable) this.dispatchEvent(new CustomEvent('choose', { detail: place }));
  }

  #key(event: KeyboardEvent): void {
    const { row, column } = this.at;
    const last = { row: this.data.rows.length - 1, column: this.data.columns.length - 1 };
    const steps: Record<string, HeatPlace> = {
      ArrowRight: { row, column: column + 1 },
      ArrowLeft: { row, column: column - 1 },
      ArrowDown: { row: row + 1, column },
      ArrowUp: { row: row - 1, column },
      Home: { row, column: 0 },
      End: { row, column: last.column },
    };
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      if (this.data.rows[row]?.cells[column]) this.#choose(this.at);
      return;
    }
    const next = steps[event.key];
    if (!next) return;
    event.preventDefault();
    const within = (value: number, max: number) => Math.min(max, Math.max(0, value));
    void this.#go({ row: within(next.row, last.row), column: within(next.column, last.column) });
  }

  async #go(place: HeatPlace): Promise<void> {
    this.at = place;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('td[tabindex="0"]')?.focus();
  }
}
