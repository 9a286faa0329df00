import { chmodSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

type Bundled = {
  /** The files whose code is in the bundle: those of this repository, and those of packages. */
  readonly modules: readonly string[];
};

/** Joins the sources and their packages into a few files that Node runs unchanged; a command loads only the files it needs. */
export async function bundle({ top, folder }: { readonly top: string; readonly folder: string }): Promise<Bundled> {
  const build = await rolldown({
    cwd: top,
    input: {
      cli: 'src/cli.ts',
      // A thread has this entry point, so it needs a file of its own.
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
      // Errors and reports show the original names of functions.
      keepNames: true,
      comments: false,
      // A single character beyond Latin-1 would make V8 keep two bytes for each character of the file.
      charset: 'ascii',
      sourcemap: 'hidden',
      sourcemapExcludeSources: true,
      // Paths are relative to the top, so that every machine builds the same bytes.
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

/** Reports whether a module is escaped. The simulated server is not: it shows its templates as written, and no daemon loads it. */
function isEscaped(top: string, id: string): boolean {
  return id.startsWith(join(top, 'src'));
}

/** Escapes non-ASCII characters before the build, because templates with a tag keep their text; no line moves. */
function toAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
