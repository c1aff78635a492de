import { defineConfig } from 'vite';
import { unitedStates } from './states.vite.js';

/** The flights page: every address relative, so that it can be served below any path. */
export default defineConfig({
  root: 'src/flights',
  base: './',
  publicDir: false,
  plugins: [unitedStates()],
  build: { outDir: '../../dist', emptyOutDir: true, target: ['chrome123', 'firefox128', 'safari17.5'] },
  server: { proxy: { '/api': process.env.PGPLANE_EDGE_URL ?? 'http://127.0.0.1:8000' } },
});
