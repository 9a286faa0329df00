import { collectors } from '../../src/collectors/index.ts';
import { listFamilies } from '../../src/commands/vocabulary.ts';
import { formatComplaint } from '../../src/config/complaint.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { checkInterval } from '../../src/schedule/interval.ts';

/** What a configuration file with this text says; nothing is read from a disk. */
export async function configure(text: string): Promise<Config> {
  const loaded = await loadConfig({
    argv: ['--config.file=world.yaml'],
    env: {},
    readFile: async (path) => (path === 'token' ? token : text),
    collectors,
    families,
    validateInterval: checkInterval,
  });
  if (!loaded.ok) throw new Error(loaded.complaints.map(formatComplaint).join('\n'));
  return loaded.config;
}

const families = listFamilies();

export const token = 'token-of-the-world';
