import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

describe('commands/imports', () => {
  it('loads, for `serve`, only the interface of OpenTelemetry that comes with prom-client', () => {
    expect(importsOf('commands/command-line.ts', 'commands/serve.ts').filter(isOfOpenTelemetry)).toEqual([]);
  });

  it('can find out which modules are loaded', () => {
    expect(importsOf('daemon/self-tracing.ts').filter(isOfOpenTelemetry)).not.toEqual([]);
  });
});

function isOfOpenTelemetry(url: string): boolean {
  return /@opentelemetry.(?!api)/.test(url);
}

/** Every module that is loaded with ours, found in a new process. */
function importsOf(...files: readonly string[]): string[] {
  const urls = files.map((file) => new URL(`../../src/${file}`, import.meta.url).href);
  const script = `
    const { registerHooks } = await import('node:module');
    const seen = [];
    registerHooks({
      resolve: (name, context, next) => {
        const found = next(name, context);
        seen.push(found.url);
        return found;
      },
    });
    for (const url of ${JSON.stringify(urls)}) await import(url);
    process.stdout.write(JSON.stringify(seen));
    process.exit(0);
  `;
  // This cast is safe: it is what the script writes.
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  ) as string[];
}
