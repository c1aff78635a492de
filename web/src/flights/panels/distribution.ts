import type { TemplateResult } from 'lit';
import type { DelayBin, Rows } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import type { ChartData } from '../charts/chart.js';
import { count, percent } from '../look/format.js';
import { shared } from '../look/styles.js';
import { Asking, memo, NOTHING_FLEW } from './asking.js';
import { chart } from './charted.js';

/** Later than this many minutes is late. */
const LATE = 15;

/** How late flights leave: most a little early, a few very late. */
export class DistributionPanel extends Asking<Rows<DelayBin>> {
  static override styles = shared;
  protected readonly question = new Question<Rows<DelayBin>>(this, 'delay_distribution');
  protected params = () => carrierPeriod(this.picks);
  readonly #data = memo(bars);

  override render(): TemplateResult {
    return this.frame({
      heading: 'How late is late',
      hint: 'in minutes',
      finding: ({ rows }) => words(rows),
      answer: ({ rows }) => chart(this.#data(rows), words(rows)),
    });
  }
}

function bars(rows: readonly DelayBin[]): ChartData {
  const half = (label: string, colour: string, mine: (bin: DelayBin) => boolean) => ({
    label,
    colour,
    shape: 'bars' as const,
    values: rows.map((bin) => (mine(bin) ? bin.flights : null)),
    text: count,
  });
  return {
    places: rows.map(binWords),
    ticks: rows.map(({ from_minutes, to_minutes }) =>
      from_minutes === null ? `<${signed(to_minutes)}` : signed(from_minutes),
    ),
    series: [half('at most 15 min', '--bars', (bin) => !isLate(bin)), half('later', '--curve', isLate)],
  };
}

function signed(minutes: number | null): string {
  return String(minutes ?? '').replace('-', '−');
}

function isLate({ from_minutes }: DelayBin): boolean {
  return from_minutes !== null && from_minutes >= LATE;
}

function binWords({ from_minutes, to_minutes }: DelayBin): string {
  if (from_minutes === null) return `more than ${-(to_minutes ?? 0)} min early`;
  return to_minutes === null
    ? `${from_minutes} min and more`
    : `${signed(from_minutes)} to ${signed(to_minutes)} min`;
}

function words(rows: readonly DelayBin[]): string {
  const sum = (some: readonly DelayBin[]) => some.reduce((flights, bin) => flights + bin.flights, 0);
  const all = sum(rows);
  if (all === 0) return NOTHING_FLEW;
  const early = sum(rows.filter(({ to_minutes }) => to_minutes !== null && to_minutes <= 0));
  const hour = sum(rows.filter(({ from_minutes }) => from_minutes !== null && from_minutes >= 60));
  return `${percent(early, all)} left before their time; ${percent(hour, all)} an hour late or more. Past that hour the bars are wider.`;
}
