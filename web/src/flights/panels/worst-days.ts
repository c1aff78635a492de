import { css, html, type TemplateResult } from 'lit';
import type { Rows, WorstDay } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import { barred, bars } from '../look/bars.js';
import { count, dayName, mins, percent } from '../look/format.js';
import { shared, tables } from '../look/styles.js';
import { Asking, NOTHING_FLEW, nothingFlew } from './asking.js';

/** The days on which most was late or cancelled; each can be picked. */
export class WorstDaysPanel extends Asking<Rows<WorstDay>> {
  protected readonly question = new Question<Rows<WorstDay>>(this, 'worst_days');
  protected params = () => carrierPeriod(this.picks);

  static override styles = [
    shared,
    tables,
    bars,
    css`
      @container (max-width: 400px) {
        .bar,
        :is(th, td):nth-child(5) {
          display: none;
        }
        :is(th, td):nth-child(4) {
          padding-inline-end: 18px;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    return this.frame({
      heading: 'The worst days',
      hint: 'a click picks the day',
      finding: ({ rows }) => words(rows),
      answer: ({ rows }) => (rows.length === 0 ? nothingFlew() : this.#table(rows)),
    });
  }

  #table(rows: readonly WorstDay[]): TemplateResult {
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label="The worst days">
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" class="right" title="Late or cancelled">Late</th>
              <th scope="col" class="right">Cancelled</th>
              <th scope="col" class="right">Mean</th>
              <th scope="col" class="right">Flights</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              (
                row,
              ) => html`<tr class=${row.date === this.picks.from && row.date === this.picks.to ? 'picked' : ''}>
                <th scope="row">
                  <button class="plain link" @click=${() => this.narrow({ from: row.date, to: row.date })}>${dayName(row.date)}</button>
                </th>
                <td class="right">${barred(row.late / row.flights, percent(row.late, row.flights))}</td>
                <td class="right">${percent(row.cancelled, row.flights)}</td>
                <td class="right">${mins(row.mean_delay)}</td>
                <td class="right">${count(row.flights)}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    `;
  }
}

function words(rows: readonly WorstDay[]): string {
  const [worst] = rows;
  if (!worst) return NOTHING_FLEW;
  return `On ${dayName(worst.date)} ${percent(worst.late, worst.flights)} left late or not at all.`;
}
