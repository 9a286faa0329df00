import { chmodSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

type Bundled = {
  /** The files whose code is inside, ours and those of packages. */
  readonly modules: readonly string[];
};

/** Joins the sources and their packages into a few files that Node runs as they are; what a command does not need is not loaded. */
export async function bundle({ top, folder }: { readonly top: string; readonly folder: string }): Promise<Bundled> {
  const build = await rolldown({
    cwd: top,
    input: {
      cli: 'src/cli.ts',
      // The entry of a thread too, so it has its own file.
      'sqlite-health': 'src/state/sqlite-health.ts',
      healthcheck: 'src/healthcheck.ts',
    },
    platform: 'node',
    plugins: [
      { name: 'ascii', transform: (code, id) => (isEscaped(top, id) ? { code: toAscii(code), map: null } : null) },
    ],
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`the bundle is not sound: ${log.message}`);
    },
  });
  try {
    const { output } = await build.write({
      dir: folder,
      format: 'esm',
      minify: true,
      // Errors and reports show these names.
      keepNames: true,
      comments: false,
      // With a single character beyond Latin-1, V8 keeps two bytes for each character of a file.
      charset: 'ascii',
      sourcemap: 'hidden',
      sourcemapExcludeSources: true,
      // From the top, so that every machine builds the same bytes.
      sourcemapPathTransform: (source, map) => relative(top, resolve(dirname(map), source)),
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
    });
    chmodSync(join(folder, 'cli.js'), 0o755);
    return { modules: output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])) };
  } finally {
    await build.close();
  }
}

/** The simulated server shows its templates as they are written, and is not loaded by a daemon that watches a real one. */
function isEscaped(top: string, id: string): boolean {
  return id.startsWith(join(top, 'src'));
}

/** Templates with a tag keep their text as it is written, so it is escaped before; no line is moved. */
function toAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
