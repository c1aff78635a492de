import { css, html, type TemplateResult } from 'lit';
import type { AircraftModel, Rows } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import { barred, bars } from '../look/bars.js';
import { count, maker, mins } from '../look/format.js';
import { shared, tables } from '../look/styles.js';
import { Asking, nothingFlew } from './asking.js';

/** What flew: the models with the most flights. */
export class AircraftPanel extends Asking<Rows<AircraftModel>> {
  protected readonly question = new Question<Rows<AircraftModel>>(this, 'aircraft');
  protected params = () => carrierPeriod(this.picks);

  static override styles = [
    shared,
    tables,
    bars,
    css`
      .bar {
        --bar: var(--bars);
      }
      th[scope='row'] {
        max-width: 15em;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      @container (max-width: 520px) {
        .bar,
        :is(th, td):nth-child(4) {
          display: none;
        }
        th[scope='row'] {
          max-width: 8.5em;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    return this.frame({
      heading: 'What flies',
      hint: 'mean departure delay in minutes',
      finding: ({ rows }) => words(rows),
      answer: ({ rows }) => (rows.length === 0 ? nothingFlew() : table(rows)),
    });
  }
}

function table(rows: readonly AircraftModel[]): TemplateResult {
  const all = Math.max(1, ...rows.map(({ flights }) => flights));
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Aircraft by model">
      <table>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col" class="right">Flights</th>
            <th scope="col" class="right">Aircraft</th>
            <th scope="col" class="right">Seats</th>
            <th scope="col" class="right">Age</th>
            <th scope="col" class="right">Mean</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) => html`<tr>
              <th scope="row" title=${`${row.manufacturer} ${row.model}`}>
                ${row.model} <span class="soft">${maker(row.manufacturer)}</span>
              </th>
              <td class="right">${barred(row.flights / all, count(row.flights))}</td>
              <td class="right">${count(row.aircraft)}</td>
              <td class="right">${count(row.seats)}</td>
              <td class="right">${mins(row.mean_age)}</td>
              <td class="right">${mins(row.mean_delay)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function words([first]: readonly AircraftModel[]): string {
  if (!first) return 'No aircraft of the registry flew.';
  const age = first.mean_age === null ? '' : `, ${mins(first.mean_age)} years old on average`;
  return `${maker(first.manufacturer)} ${first.model} flew most: ${count(first.aircraft)} aircraft${age}.`;
}
