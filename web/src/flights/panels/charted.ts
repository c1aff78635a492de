import { html, type TemplateResult } from 'lit';
import type { ChartData, ChartReach, ChartSeries } from '../charts/chart.js';
import { count, mins } from '../look/format.js';
import { nothingFlew } from './asking.js';

/** The two series of every chart of flights over time: bars, and how late they left as a curve. */
export function flightsAndDelay(
  rows: readonly { readonly flights: number; readonly mean_delay: number | null }[],
): ChartSeries[] {
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

export interface ChartWays {
  /** A place of the chart can be picked. */
  readonly choose?: (at: number) => void;
  readonly reach?: ChartReach;
}

/** A chart with its summary. */
export function chart(
  data: ChartData,
  summary: string,
  { choose, reach = {} }: ChartWays = {},
): TemplateResult {
  if (data.places.length === 0) return nothingFlew();
  return html`<flights-chart
    .data=${data}
    .summary=${summary}
    .reach=${reach}
    ?choosable=${choose !== undefined}
    @choose=${(event: CustomEvent<number>) => choose?.(event.detail)}
  ></flights-chart>`;
}
