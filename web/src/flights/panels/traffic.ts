import type { TemplateResult } from 'lit';
import { html } from 'lit';
import type { DayTraffic, HourDelays, Rows } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import type { ChartData, ChartSeries } from '../charts/chart.js';
import { count, dayName, mins, shortDay } from '../look/format.js';
import { shared } from '../look/styles.js';
import { Asking } from './asking.js';

/** How much was flown, day by day, and how late it left. */
export class TrafficPanel extends Asking<Rows<DayTraffic>> {
  static override styles = shared;
  protected readonly question = new Question<Rows<DayTraffic>>(this, 'daily_traffic');
  protected params = () => carrierPeriod(this.picks);
  readonly #shown = memo((rows: readonly DayTraffic[]) => ({
    data: trafficData(rows),
    summary: trafficWords(rows),
  }));

  override render(): TemplateResult {
    return this.frame('Day by day', 'flights, and mean departure delay', ({ rows }) =>
      chart(this.#shown(rows)),
    );
  }
}

/** How the delay grows over the day, and what rain adds. */
export class HoursPanel extends Asking<Rows<HourDelays>> {
  static override styles = shared;
  protected readonly question = new Question<Rows<HourDelays>>(this, 'delays_by_hour');
  protected params = () => carrierPeriod(this.picks);
  readonly #shown = memo((rows: readonly HourDelays[]) => ({
    data: hoursData(rows),
    summary: hoursWords(rows),
  }));

  override render(): TemplateResult {
    return this.frame('Hour by hour', 'and when it is wet', ({ rows }) => chart(this.#shown(rows)));
  }
}

function chart({ data, summary }: { data: ChartData; summary: string }): TemplateResult {
  return data.places.length === 0
    ? html`<p class="soft">Nothing flew: no flights match these picks.</p>`
    : html`<flights-chart .data=${data} .summary=${summary}></flights-chart>`;
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
  const worstWords = worst
    ? ` Latest on average: ${dayName(worst.date)}, ${mins(worst.mean_delay)} minutes.`
    : '';
  return `${count(flights)} flights on ${rows.length} days.${worstWords}`;
}

function hoursData(rows: readonly HourDelays[]): ChartData {
  return {
    places: rows.map(({ hour }) => `${hour} to ${hour + 1} h`),
    ticks: rows.map(({ hour }) => `${hour} h`),
    series: [
      ...flightsAndDelay(rows),
      {
        label: 'when wet',
        shape: 'dashes',
        colour: '--accent',
        values: rows.map((row) => row.wet_mean_delay),
        text: mins,
      },
    ],
  };
}

/** The two series that every chart here has. */
function flightsAndDelay(rows: readonly (DayTraffic | HourDelays)[]): ChartSeries[] {
  return [
    {
      label: 'flights',
      shape: 'bars',
      colour: '--bars',
      values: rows.map((row) => row.flights),
      text: count,
    },
    {
      label: 'mean delay, min',
      shape: 'curve',
      colour: '--curve',
      values: rows.map((row) => row.mean_delay),
      text: mins,
    },
  ];
}

function hoursWords(rows: readonly HourDelays[]): string {
  const worst = most(rows, (row) => row.mean_delay);
  return worst ? `Latest on average at ${worst.hour} o’clock, by ${mins(worst.mean_delay)} minutes.` : '';
}

function most<Row>(rows: readonly Row[], by: (row: Row) => number | null): Row | undefined {
  return rows.reduce<Row | undefined>((best, row) => {
    const value = by(row);
    if (value === null) return best;
    return best === undefined || value > (by(best) ?? Number.NEGATIVE_INFINITY) ? row : best;
  }, undefined);
}

/** Remembers the last result, so that an unchanged answer does not redraw a chart. */
function memo<In extends object, Out>(make: (input: In) => Out): (input: In) => Out {
  let last: { input: In; output: Out } | null = null;
  return (input) => {
    if (last?.input !== input) last = { input, output: make(input) };
    return last.output;
  };
}
