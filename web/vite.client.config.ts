import { defineConfig } from 'vite';

/** The browser client library as one ES module; its only dependency stays an import. */
export default defineConfig({
  publicDir: false,
  build: {
    outDir: 'dist-client',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: { entry: 'src/client/index.ts', formats: ['es'], fileName: 'index' },
    rolldownOptions: { external: ['eventsource-parser'] },
  },
});
