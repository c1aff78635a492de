import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const web = fileURLToPath(new URL('../../', import.meta.url));
const tsc = join(web, 'node_modules/typescript/bin/tsc');

/** The most that the client may add to a page, in bytes, compressed, its dependency included. */
const LIMIT = 8 * 1024;

/** What somebody writes who has installed the package. */
const CONSUMER = `
import { blobsOf, createPlane, PlaneError, type Answer, type Plane, type QueryKey, type State } from 'pgplane-web';

interface Row { readonly carrier: string; readonly flights: number }

const plane: Plane = createPlane({ surface: 'flights', token: ({ refresh }) => (refresh ? 'new' : 'old'), patience: 10 });
const key: QueryKey = plane.key('daily', { origin: 'JFK' });

export async function rows(signal: AbortSignal): Promise<readonly Row[]> {
  try {
    const options = { signal, waitMs: 300_000, onAbort: 'stay', onState: (state: State<Row[]>) => state.name } as const;
    const answer: Answer<Row[]> = await plane.query<Row[]>('daily', { origin: 'JFK' }, options);
    for (const blob of blobsOf(answer)) (await plane.download(blob, { signal })).body?.cancel();
    return answer.result;
  } catch (error) {
    if (error instanceof PlaneError && error.resumable && error.jobId) return (await plane.resume<Row[]>(error.jobId)).result;
    throw error;
  }
}

export const stop = plane.subscribe<Row[]>(key, (error, result) => error?.code ?? result?.length);

// @ts-expect-error: nothing else than these two
plane.query('daily', {}, { onAbort: 'go' });
// @ts-expect-error: a surface is needed
createPlane({ token: () => 'old' });
`;

/** Prints what the package exports, and an answer that it got over a fetch of this program's. */
const PROGRAM = `
import * as client from 'pgplane-web';
const done = 'event: done\\ndata: {"jobId":"41","result":[9007199254740993]}\\n\\n';
const fetch = async (url, { method }) => method === 'POST'
  ? new Response('{"jobId":"41"}', { status: 202 })
  : new Response(done, { headers: { 'content-type': 'text/event-stream' } });
const { raw } = await client.createPlane({ surface: 'flights', token: () => 'good', fetch }).query('ids');
console.log(JSON.stringify({ exports: Object.keys(client).sort(), raw }));
`;

let room: string;
let files: string[];

/** The package as npm would publish it, installed into a folder of its own beside its dependency. */
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), 'pgplane-web-'));
  const packing = ['pack', '--json', '--pack-destination', room];
  const { stdout } = await run('npm', packing, { cwd: web });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [
    { filename: string; files: { path: string }[] },
  ];
  files = packed.files.map(({ path }) => path).sort();
  const modules = join(room, 'node_modules');
  await mkdir(join(modules, 'pgplane-web'), { recursive: true });
  const tarball = join(room, packed.filename);
  await run('tar', ['-xzf', tarball, '-C', join(modules, 'pgplane-web'), '--strip-components', '1']);
  await symlink(join(web, 'node_modules/eventsource-parser'), join(modules, 'eventsource-parser'));
  await writeFile(join(room, 'package.json'), '{"type": "module"}');
}, 120_000);

afterAll(() => rm(room, { recursive: true }));

describe('the published package', () => {
  it('holds the built library, its types, its licence, and nothing else', async () => {
    const built = files.filter((path) => path.startsWith('dist-client/'));
    expect(files.filter((path) => !built.includes(path))).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(built).toEqual(expect.arrayContaining(['dist-client/index.js', 'dist-client/index.d.ts']));
    expect(built.filter((path) => !path.endsWith('.d.ts'))).toEqual(['dist-client/index.js']);
    const read = (path: string) => readFile(join(web, path), 'utf8');
    expect(await read('LICENSE')).toBe(await read('../LICENSE'));
  });

  it('can be published and needs one package', async () => {
    const text = await readFile(join(room, 'node_modules/pgplane-web/package.json'), 'utf8');
    const { private: hidden, license, dependencies } = JSON.parse(text);
    expect({ hidden, license }).toEqual({ hidden: false, license: 'PostgreSQL' });
    expect(Object.keys(dependencies)).toEqual(['eventsource-parser']);
  });

  it.each([
    ['a bundler', 'ESNext', 'Bundler'],
    ['Node', 'NodeNext', 'NodeNext'],
  ])(
    'has types that a strict program compiles against: %s',
    async (_, module, moduleResolution) => {
      const compilerOptions = {
        module,
        moduleResolution,
        target: 'ES2022',
        lib: ['ES2022', 'DOM'],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        noEmit: true,
      };
      await writeFile(join(room, 'consumer.ts'), CONSUMER);
      await writeFile(
        join(room, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
      );
      const { stdout } = await run(process.execPath, [tsc, '-p', room]).catch((error) => error);
      expect(stdout).toBe('');
    },
    60_000,
  );

  it('runs', async () => {
    await writeFile(join(room, 'program.js'), PROGRAM);
    const { stdout } = await run(process.execPath, [join(room, 'program.js')]);
    expect(JSON.parse(stdout)).toEqual({
      exports: ['PlaneError', 'blobsOf', 'createPlane'],
      raw: '[9007199254740993]',
    });
  }, 60_000);

  it('adds at most 8 KB to a page', async () => {
    const bundle = await build({
      configFile: false,
      logLevel: 'silent',
      root: room,
      publicDir: false,
      build: {
        write: false,
        target: 'es2022',
        modulePreload: false,
        rolldownOptions: {
          input: join(room, 'node_modules/pgplane-web/dist-client/index.js'),
          preserveEntrySignatures: 'strict',
        },
      },
    });
    const [code, ...others] = [bundle].flat().flatMap((one) => ('output' in one ? one.output : []));
    if (code?.type !== 'chunk') throw new Error('no chunk was built');
    expect(others).toEqual([]);
    expect(code.imports).toEqual([]);
    const size = gzipSync(code.code, { level: 9 }).length;
    console.log(`the client, minified and compressed: ${size} bytes`);
    expect(size).toBeLessThanOrEqual(LIMIT);
  }, 60_000);
});
