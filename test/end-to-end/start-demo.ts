import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startCli } from '../support/child.ts';

export type Demo = Child & {
  readonly url: string;
  readonly simulatorUrl: string;
  /** The empty directory in which the demo runs. */
  readonly directory: string;
};

export type DemoOptions = { readonly flags?: readonly string[]; readonly env?: Readonly<Record<string, string>> };

/** Starts the demo as a person does, on free ports, and waits for its links. */
export async function startDemo({ flags = [], env = {} }: DemoOptions = {}): Promise<Demo> {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-demo-'));
  const args = ['demo', '--port=0', '--web.listen-address=127.0.0.1:0', ...flags];
  const child = startCli(args, { env, cwd: directory });
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const [, simulatorUrl = ''] = await child.waitFor(/^Watching a simulated service at (http:\S+)\. Live now:$/m);
    const [, url = ''] = await child.waitFor(/^ {2}metrics {2,}(http:\S+)\/metrics$/m);
    await child.waitFor(/Ctrl-C stops both\./);
    return { ...child, url, simulatorUrl, directory, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
