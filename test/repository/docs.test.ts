import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandWords } from '../../src/commands/command-table.ts';
import { contractMetrics } from '../dashboards/contract-metrics.ts';
import { readPromql } from '../dashboards/promql.ts';
import { startCli } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import { describeWithTools } from '../support/tools.ts';

const top = join(import.meta.dirname, '..', '..');
const generated = ['configuration.md', 'metrics.md'];
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'deploy/helm/automation-exporter/README.md',
  ...readdirSync(join(top, '.github'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `.github/${name}`),
  'alerts/README.md',
  ...readdirSync(join(top, 'alerts/runbooks')).map((name) => `alerts/runbooks/${name}`),
  'dashboards/README.md',
  'src/README.md',
  'test/faults.md',
  'test/world/README.md',
  ...readdirSync(join(top, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map((path) => ({ path, text: readFileSync(join(top, path), 'utf8') }));
const written = pages.filter(
  ({ path }) => /^(README|docs\/)/.test(path) && !generated.some((name) => path.endsWith(`/${name}`)),
);
const configuration = readFileSync(join(top, 'docs', 'configuration.md'), 'utf8');
const metrics = readFileSync(join(top, 'docs', 'metrics.md'), 'utf8');

describe('repository/docs', () => {
  it('link to existing files', () => {
    const links = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => ({ path, link })),
    );
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter(({ path, link }) => !existsSync(join(top, dirname(path), link)))).toEqual([]);
  });

  it('link to existing headings', () => {
    const links = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)\s#:]*\.md)?#([^)\s]+)\)/g)].map(([, file, anchor = '']) => {
        return { path, anchor, target: file === undefined ? path : join(dirname(path), file) };
      }),
    );
    expect(links.length).toBeGreaterThan(10);
    const missing = links.filter(({ target, anchor }) => !toAnchors(target).includes(anchor));
    expect(missing).toEqual([]);
  });

  it('lists every page of docs/', () => {
    const index = readFileSync(join(top, 'docs', 'README.md'), 'utf8');
    const names = pages.flatMap(({ path }) => /^docs\/(?!README)(.+)$/.exec(path)?.[1] ?? []);
    expect(names.filter((name) => !index.includes(`(${name})`))).toEqual([]);
  });

  it('names existing metrics', () => {
    const named = written.flatMap(({ path, text }) =>
      [...text.matchAll(/\bautomation_[a-z_]+[a-z]\b(?!_)/g)].map(([name]) => ({ path, name })),
    );
    const families = new Set([...metrics.matchAll(/`(automation_[a-z_]+)`/g)].map(([, name = '']) => name));
    // This is the name of the database of replicas, of its user and of its schema.
    families.add('automation_exporter');
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter(({ name }) => !families.has(name.replace(/_(bucket|sum|count)$/, '')))).toEqual([]);
  });

  it('has valid queries of existing series', () => {
    const queries = written.flatMap(({ path, text }) =>
      [...text.matchAll(/```promql\n([^]*?)```/g)].map(([, query = '']) => ({ path, query, ...readPromql(query) })),
    );
    expect(queries.length).toBeGreaterThan(10);
    expect(
      queries.filter(({ valid, metrics: named }) => !valid || named.some((name) => !contractMetrics.has(name))),
    ).toEqual([]);
  });

  it('names existing options', () => {
    const sections = ['servers\\[\\]', 'jobs', 'executions', 'diagnosis', 'traces', 'metrics', 'state', 'log', 'web'];
    const option = new RegExp(`\`((?:${sections.join('|')})\\.[a-z_.<>]+)(?:: [^\`]*)?\``, 'g');
    const named = written.flatMap(({ path, text }) =>
      [...text.matchAll(option)].map(([, name = '']) => ({ path, name })),
    );
    expect(named.length).toBeGreaterThan(20);
    const isFile = (name: string): boolean => ['state.sqlite', 'state.commits', 'log.record.uid'].includes(name);
    expect(named.filter(({ name }) => !isFile(name) && !configuration.includes(`\`${name}`))).toEqual([]);
  });

  it('names existing commands', () => {
    const names = new Set<string>(commandWords.map(({ name }) => name));
    const named = written.flatMap(({ path, text }) =>
      [...text.matchAll(/npm start (?:--silent )?-- ([a-z]\w+)/g)].map(([, name = '']) => ({ path, name })),
    );
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter(({ name }) => !names.has(name))).toEqual([]);
  });

  it('writes no output of npm into files', () => {
    const kept = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/^npm start .*(?:> |--json).*$/gm)].map(([line]) => ({ path, line })),
    );
    expect(kept.length).toBeGreaterThan(1);
    expect(kept.filter(({ line }) => !line.startsWith('npm start --silent -- '))).toEqual([]);
    const printed = execFileSync('npm', ['start', '--silent', '--', 'acl'], { cwd: top, encoding: 'utf8' });
    expect(printed).toMatch(/^# The minimal rights /);
  });

  it('computes ids in a shell like the exporter', async () => {
    const text = readFileSync(join(top, 'docs', 'traces.md'), 'utf8');
    const [, script = ''] = /```sh\n([^]*?)```/.exec(text) ?? [];
    const [, says = ''] = /^The output is `([^`]+)`/m.exec(text) ?? [];
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim()).toBe(says);
    const cli = startCli(['traceparent', '--namespace=https://automation.example.org', '--execution=4711']);
    await cli.ended;
    expect(cli.output().trim()).toBe(says);
  });

  describe('configurations', () => {
    let directory: string;
    beforeEach(() => {
      directory = makeFolder();
      writeFileSync(join(directory, 'token'), 'some-token\n', { mode: 0o600 });
    });

    const blocks = written.flatMap(({ path, text }) =>
      [...text.matchAll(/```yaml\n([^]*?)```/g)].flatMap(([, block = '']) =>
        /^ *(?:servers|jobs|diagnosis|state):/.test(block) ? [{ path, block }] : [],
      ),
    );

    it.each(blocks)('in $path are accepted', async ({ block }) => {
      const config = join(directory, 'config.yaml');
      const server = `servers: [{ name: some, url: 'http://127.0.0.1', token_file: /run/secrets/token }]\n`;
      writeFileSync(
        config,
        `${block.includes('servers:') ? '' : server}${block}`.replaceAll(
          /\/(?:run\/secrets\/[\w-]+|etc\/automation-exporter\/token)/g,
          join(directory, 'token'),
        ),
      );
      const cli = startCli(['serve', `--config.file=${config}`, '--config.check']);
      const { code } = await cli.ended;
      expect(`${cli.output()}${code}`).toMatch(/0$/);
    });
  });
});

/** The anchors that GitHub gives the headings of a page. */
function toAnchors(path: string): readonly string[] {
  const headings = readFileSync(join(top, path), 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

describeWithTools(
  'repository/docs, for Prometheus and Alertmanager',
  ['promtool', 'amtool'],
  ({ promtool, amtool }) => {
    it('have configurations that Prometheus and Alertmanager accept', () => {
      const directory = makeFolder();
      const receivers = ['operations', 'payments', 'page'].map((name) => `  - name: ${name}\n`);
      const found = written.flatMap(({ text }) =>
        [...text.matchAll(/```yaml\n((?:scrape_configs|alerting|route):[^]*?)```/g)].map(([, block = '']) => block),
      );
      for (const name of ['ca.crt', 'password', 'automation-exporter-rules.yaml'])
        writeFileSync(join(directory, name), '');
      const file = join(directory, 'some.yml');
      for (const block of found) {
        const isRoute = block.startsWith('route:');
        writeFileSync(file, isRoute ? `${block}receivers:\n${receivers.join('')}` : block);
        execFileSync(isRoute ? amtool : promtool, isRoute ? ['check-config', file] : ['check', 'config', file]);
      }
      expect(found).toHaveLength(3);
    });
  },
);
