import type { TemplateResult } from 'lit';
import type { DayTraffic, Rows } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import type { ChartData } from '../charts/chart.js';
import { count, dayName, many, mins, shortDay } from '../look/format.js';
import { shared } from '../look/styles.js';
import { Asking, memo, most } from './asking.js';
import { chart, flightsAndDelay } from './charted.js';

/** How much was flown, day by day, and how late it left; a day can be picked. */
export class TrafficPanel extends Asking<Rows<DayTraffic>> {
  static override styles = shared;
  protected readonly question = new Question<Rows<DayTraffic>>(this, 'daily_traffic');
  protected params = () => carrierPeriod(this.picks);
  readonly #data = memo(trafficData);

  override render(): TemplateResult {
    return this.frame({
      heading: 'Day by day',
      hint: 'a click picks the day',
      answer: ({ rows }) =>
        chart(this.#data(rows), trafficWords(rows), {
          choose: (at) => this.#choose(rows[at]),
          reach: {
            count: this.reach(
              'flights a day',
              rows.map(({ flights }) => flights),
            ),
            minutes: this.reach(
              'delay of a day',
              rows.map(({ mean_delay }) => mean_delay),
            ),
          },
        }),
    });
  }

  #choose(row: DayTraffic | undefined): void {
    if (row) this.narrow({ from: row.date, to: row.date });
  }
}

function trafficData(rows: readonly DayTraffic[]): ChartData {
  return {
    places: rows.map(({ date }) => dayName(date)),
    ticks: rows.map(({ date }) => shortDay(date)),
    series: flightsAndDelay(rows),
  };
}

function trafficWords(rows: readonly DayTraffic[]): string {
  const flights = rows.reduce((sum, row) => sum + row.flights, 0);
  const worst = most(rows, (row) => row.mean_delay);
  const words = worst ? ` Latest on average: ${dayName(worst.date)}, ${mins(worst.mean_delay)} minutes.` : '';
  return `${count(flights)} flights on ${many(rows.length, 'day')}.${words}`;
}
