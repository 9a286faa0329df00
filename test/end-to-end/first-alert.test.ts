import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Child, startChild } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/listen.ts';
import { describeWithTools } from '../support/tools.ts';

const top = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(top, 'docs', 'first-alert.md'), 'utf8');
const blocks = [...page.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);

describeWithTools('end-to-end/first-alert', ['prometheus', 'promtool', 'alertmanager', 'amtool', 'curl'], () => {
  let directory: string;
  let newcomer: Child | undefined;

  beforeEach(() => {
    directory = makeFolder();
  });
  afterEach(() => newcomer?.stop());

  it('has commands that lead to an alert in Alertmanager', async () => {
    const ports: Readonly<Record<string, number>> = {
      9720: await freePort(),
      9721: await freePort(),
      19090: await freePort(),
      19093: await freePort(),
    };
    const program = `demo --port=${ports[9721]} --web.listen-address=127.0.0.1:${ports[9720]}`;
    const script = `set -u
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
trap 'exit 1' TERM
automation-exporter() { exec '${process.execPath}' '${join(top, 'src', 'cli.ts')}' ${program}; }
${blocks.slice(0, -1).map(hasten).join('\n')}
for try in $(seq 100); do
  shown=$(${blocks.at(-1)?.trim()})
  case "$shown" in *Passive*) echo "$shown"; echo 'seen by a newcomer'; exit 0 ;; esac
  sleep 0.3
done
`;
    const path = join(directory, 'commands.sh');
    writeFileSync(
      path,
      script.replaceAll(/(?<=localhost:)\d+/g, (port) => String(ports[port] ?? port)),
    );

    newcomer = startChild('bash', [path], { cwd: directory, env: { HOME: directory }, isGroup: true });
    await newcomer.waitFor(/seen by a newcomer/, 110_000);

    expect(newcomer.output()).toContain('automation_up{server="demo"} 1');
    expect(newcomer.output()).toMatch(/^AutomationExecutionModePassive /m);
    expect(newcomer.output()).not.toMatch(/AutomationExporterDown|AutomationServiceDown/);
  }, 120_000);
});

/** The commands with shorter intervals and durations. */
function hasten(block: string): string {
  const short = block.replaceAll(/\b(?:15|30)s\b/g, '1s');
  return short.replace(
    'cat > prometheus.yml',
    `sed -i -E 's/^( +for:) .*/\\1 0s/; s/^( +interval:) .*/\\1 1s/' rules.yaml\ncat > prometheus.yml`,
  );
}
