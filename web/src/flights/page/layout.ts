import { css, html, type TemplateResult } from 'lit';
import type { Picks } from '../asking/picks.js';
import type { Desk } from '../panels/asking.js';
import { firstName } from './people.js';

/** Where the panels stand, in twelve columns. */
export const layout = css`
  main {
    display: grid;
    grid-template-columns: repeat(12, minmax(0, 1fr));
    gap: var(--gap);
  }
  /* Every panel has its height before its answer comes: nothing moves when it does. */
  main > * {
    grid-column: span 12;
    height: var(--height);
    min-width: 0;
  }
  main > .by {
    height: auto;
    min-height: 0;
    font-size: 14px;
  }
  .by b {
    display: block;
    font-size: 18px;
    letter-spacing: -0.01em;
  }
  flights-overview {
    --height: 186px;
  }
  flights-overview.half {
    --height: 312px;
  }
  flights-traffic {
    --height: 280px;
  }
  flights-destinations,
  flights-punctuality {
    --height: 500px;
  }
  flights-carriers,
  flights-hours {
    --height: 480px;
  }
  flights-carrier-months,
  flights-distribution {
    --height: 520px;
  }
  flights-weather,
  flights-aircraft {
    --height: 372px;
  }
  flights-worst-days,
  flights-board {
    --height: 500px;
  }
  .seven {
    grid-column: span 7;
  }
  .five {
    grid-column: span 5;
  }
  .half {
    grid-column: span 6;
  }
  @media (max-width: 900px) {
    /* Each panel names its person where the two stand below one another. */
    main > .by {
      display: none;
    }
    flights-overview {
      --height: 290px;
    }
    main > * {
      grid-column: span 12 !important;
    }
  }
  @media (max-width: 640px) {
    flights-overview,
    flights-overview.half {
      --height: 376px;
    }
    flights-carrier-months {
      --height: 590px;
    }
    flights-weather {
      --height: 410px;
    }
    flights-carriers,
    flights-hours,
    flights-distribution {
      --height: 430px;
    }
    flights-destinations {
      --height: 440px;
    }
    flights-punctuality {
      --height: 380px;
    }
  }
`;

/** Every panel, asked by one person. */
export function panels(desk: Desk): TemplateResult {
  return html`
    <flights-overview .desk=${desk}></flights-overview>
    <flights-traffic .desk=${desk}></flights-traffic>
    <flights-destinations class="seven" .desk=${desk}></flights-destinations>
    <flights-punctuality class="five" .desk=${desk}></flights-punctuality>
    <flights-carriers class="seven" .desk=${desk}></flights-carriers>
    <flights-hours class="five" .desk=${desk}></flights-hours>
    <flights-carrier-months class="seven" .desk=${desk}></flights-carrier-months>
    <flights-distribution class="five" .desk=${desk}></flights-distribution>
    <flights-weather class="five" .desk=${desk}></flights-weather>
    <flights-aircraft class="seven" .desk=${desk}></flights-aircraft>
    <flights-worst-days class="five" .desk=${desk}></flights-worst-days>
    <flights-board class="seven" .desk=${desk}></flights-board>
  `;
}

/** The same questions, asked by two people: their answers stand side by side. */
export function pair(one: Desk, other: Desk, { user, beside }: Picks): TemplateResult {
  const desks = [one, other];
  return html`
    ${[user, beside].map((label) => html`<p class="half by soft"><b>${firstName(label)}</b> ${label.slice(firstName(label).length)}</p>`)}
    ${desks.map((desk) => html`<flights-overview class="half" .desk=${desk}></flights-overview>`)}
    ${desks.map((desk) => html`<flights-traffic class="half" .desk=${desk}></flights-traffic>`)}
    ${desks.map((desk) => html`<flights-destinations class="half" .desk=${desk}></flights-destinations>`)}
    ${desks.map((desk) => html`<flights-punctuality class="half" .desk=${desk}></flights-punctuality>`)}
    ${desks.map((desk) => html`<flights-carriers class="half" .desk=${desk}></flights-carriers>`)}
  `;
}
