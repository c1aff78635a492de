import { css, html, type TemplateResult } from 'lit';
import type { Rows, WeatherImpact } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import { barred, bars } from '../look/bars.js';
import { count, mins, percent } from '../look/format.js';
import { shared, tables } from '../look/styles.js';
import { Asking, most, NOTHING_FLEW, nothingFlew } from './asking.js';

/** The condition that the others are held against. */
const FAIR = 'clear';
const FEW = 20;

const ADJECTIVES: Readonly<Record<string, string>> = { rain: 'raining', fog: 'foggy', wind: 'windy' };

/** What the weather does to departures: one row a condition. */
export class WeatherPanel extends Asking<Rows<WeatherImpact>> {
  protected readonly question = new Question<Rows<WeatherImpact>>(this, 'weather_impact');
  protected params = () => carrierPeriod(this.picks);

  static override styles = [
    shared,
    tables,
    bars,
    css`
      th[scope='row']::first-letter {
        text-transform: uppercase;
      }
      @container (max-width: 480px) {
        :is(th, td):nth-child(5) {
          display: none;
        }
        :is(th, td):nth-child(4) {
          padding-inline-end: 18px;
        }
      }
      @container (max-width: 400px) {
        .bar {
          display: none;
        }
        th[scope='row'] {
          white-space: normal;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    return this.frame({
      heading: 'What weather does',
      hint: 'delay, min',
      finding: ({ rows }) => words(rows),
      answer: ({ rows }) => (rows.length === 0 ? nothingFlew() : table(rows)),
    });
  }
}

function table(rows: readonly WeatherImpact[]): TemplateResult {
  const worst = Math.max(1, ...rows.map((row) => row.mean_delay ?? 0));
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Delays by weather">
      <table>
        <thead>
          <tr>
            <th scope="col">Weather</th>
            <th scope="col" class="right">Flights</th>
            <th scope="col" class="right">Cancelled</th>
            <th scope="col" class="right">Mean</th>
            <th scope="col" class="right">Worst tenth</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) => html`<tr>
              <th scope="row">${row.condition}</th>
              <td class="right">${count(row.flights)}</td>
              <td class="right">${percent(row.cancelled, row.flights)}</td>
              <td class="right">${barred((row.mean_delay ?? 0) / worst, mins(row.mean_delay))}</td>
              <td class="right">${mins(row.p90_delay)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function words(rows: readonly WeatherImpact[]): string {
  if (rows.length === 0) return NOTHING_FLEW;
  const fair = rows.find(({ condition }) => condition === FAIR);
  const known = rows.filter(({ condition, flights }) => condition !== 'unknown' && flights >= FEW);
  const worst = most(known, ({ mean_delay }) => mean_delay);
  if (!worst) return 'Too few flights to tell.';
  const when =
    fair && fair !== worst && fair.mean_delay !== null ? ` When clear: ${mins(fair.mean_delay)}.` : '';
  return `Worst when ${ADJECTIVES[worst.condition] ?? worst.condition}: ${mins(worst.mean_delay)} min late on average.${when}`;
}
