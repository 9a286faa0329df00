import { chmodSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

type Bundled = {
  /** The files whose code is in the bundle, of this repository and of packages. */
  readonly modules: readonly string[];
};

/** Joins sources and packages into a few files; a command loads only the files it needs. */
export async function bundle({ top, folder }: { readonly top: string; readonly folder: string }): Promise<Bundled> {
  const build = await rolldown({
    cwd: top,
    input: {
      cli: 'src/cli.ts',
      // A thread starts with this file.
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
      // With a single character beyond Latin-1, V8 would keep two bytes for each character of the file.
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

/**
 * Reports whether the non-ASCII characters of a module are escaped. The simulated server is not escaped, because no
 * daemon loads it.
 */
function isEscaped(top: string, id: string): boolean {
  return id.startsWith(join(top, 'src'));
}

/** Escapes non-ASCII characters before the build, because templates with a tag keep their text; no line moves. */
function toAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
