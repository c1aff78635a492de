import { createRequire } from 'node:module';
import { geoPath } from 'd3-geo';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import type { Plugin } from 'vite';

const NAME = 'virtual:united-states';

type Atlas = Topology<{ nation: GeometryCollection; states: GeometryCollection }>;

/**
 * The United States as two SVG paths, drawn while the page is built: `nation` and the `borders` between
 * states, in the projection and the frame of us-atlas (Albers, 975 × 610).
 */
export function unitedStates(): Plugin {
  const resolved = `\0${NAME}`;
  return {
    name: 'united-states',
    resolveId: (id) => (id === NAME ? resolved : undefined),
    load(id) {
      if (id !== resolved) return undefined;
      const atlas: Atlas = createRequire(import.meta.url)('us-atlas/states-albers-10m.json');
      const draw = geoPath().digits(0);
      const nation = draw(feature(atlas, atlas.objects.nation));
      const borders = draw(mesh(atlas, atlas.objects.states, (one, other) => one !== other));
      return `export const nation = ${JSON.stringify(nation)};\nexport const borders = ${JSON.stringify(borders)};`;
    },
  };
}
