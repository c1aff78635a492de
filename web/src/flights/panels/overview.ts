import { css, html, type TemplateResult } from 'lit';
import type { Overview, Rows } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import { brief, count, many, mins, percent, periodWords } from '../look/format.js';
import { shared } from '../look/styles.js';
import { Asking, nothingFlew } from './asking.js';

/** Miles around the Earth at the equator. */
const EQUATOR = 24_901;

interface Tile {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
  readonly note: string;
}

/** The period in six figures. */
export class OverviewPanel extends Asking<Rows<Overview>> {
  protected readonly question = new Question<Rows<Overview>>(this, 'overview');
  protected params = () => carrierPeriod(this.picks);

  static override styles = [
    shared,
    css`
      :host {
        container-type: inline-size;
      }
      dl {
        --value: clamp(21px, 2.9cqi, 30px);
        display: grid;
        grid-template-columns: repeat(6, minmax(0, 1fr));
        gap: 14px 0;
        margin: 0 -18px;
        overflow: hidden;
      }
      .tile {
        display: flex;
        flex-direction: column;
        margin-inline-start: -1px;
        padding: 0 10px 0 18px;
        border-inline-start: 1px solid var(--line);
      }
      dt {
        color: var(--soft);
        font-size: 13px;
      }
      dd {
        margin: 0;
      }
      .value {
        font-size: var(--value);
        font-weight: 650;
        font-variant-numeric: tabular-nums;
        letter-spacing: -0.02em;
        line-height: 1.25;
        white-space: nowrap;
      }
      .value small {
        margin-inline-start: 3px;
        color: var(--soft);
        font-size: 14px;
        font-weight: 500;
        letter-spacing: 0;
      }
      .note {
        font-size: 13px;
        line-height: 1.35;
        font-variant-numeric: tabular-nums;
      }
      @container (max-width: 740px) {
        dl {
          --value: clamp(21px, 5.2cqi, 30px);
          grid-template-columns: repeat(3, minmax(0, 1fr));
        }
      }
      @media (max-width: 640px) {
        dl {
          --value: 27px;
          grid-template-columns: repeat(2, minmax(0, 1fr));
        }
      }
    `,
  ];

  override render(): TemplateResult {
    const { from, to } = this.picks;
    return this.frame({
      heading: 'In figures',
      hint: periodWords(from, to),
      answer: ({ rows: [row] }) => (row && row.flights > 0 ? figures(row) : nothingFlew()),
    });
  }
}

function figures(row: Overview): TemplateResult {
  const flew = row.flights - row.cancelled;
  const tiles: Tile[] = [
    { name: 'Flights', value: count(row.flights), note: `to ${many(row.destinations, 'destination')}` },
    {
      name: 'Left on time',
      value: percent(row.on_time, flew),
      note: 'at most 15 min after plan',
    },
    {
      name: 'Mean delay',
      value: mins(row.mean_delay),
      unit: 'min',
      note: `median ${mins(row.median_delay)}, one in ten over ${mins(row.p90_delay)}`,
    },
    {
      name: 'Cancelled',
      value: percent(row.cancelled, row.flights),
      note: `${many(row.cancelled, 'flight')} never left`,
    },
    {
      name: 'Aircraft',
      value: count(row.aircraft),
      note: row.aircraft > 0 ? `${many(Math.round(flew / row.aircraft), 'flight')} each` : 'none known',
    },
    { name: 'Miles', value: brief(row.miles), note: around(row.miles) },
  ];
  return html`<dl>
    ${tiles.map(
      ({ name, value, unit, note }) => html`<div class="tile">
        <dt>${name}</dt>
        <dd class="value">${value}${unit ? html`<small>${unit}</small>` : ''}</dd>
        <dd class="note soft">${note}</dd>
      </div>`,
    )}
  </dl>`;
}

function around(miles: number): string {
  const times = miles / EQUATOR;
  return times < 1 ? 'not once around the Earth' : `${count(Math.round(times))} times around the Earth`;
}
