import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

const server = 'servers: [{ url: https://prod.example.org, token_file: /run/token }]\n';

describe('config/status-map', () => {
  it('accepts a map in the file, and pairs in a flag', async () => {
    const written = await load({ yaml: `${server}traces: { status_map: { warning: success, "on hold": skip } }` });
    expect(written.config.traces.statusMap).toEqual({ warning: 'success', 'on hold': 'skip' });
    const flagged = await load({ argv: ['--traces.status-map=warning=success, held = cancellation'] });
    expect(flagged.config.traces.statusMap).toEqual({ warning: 'success', held: 'cancellation' });
  });

  it('is empty by default', async () => {
    expect((await load({})).config.traces.statusMap).toEqual({});
  });

  it.each([
    ['warning=succes', '--traces.status-map.warning: takes one of success, failure'],
    ['failed=success', '--traces.status-map.failed: is a built-in status (only custom statuses can be mapped'],
    ['incomplete=success', '--traces.status-map.incomplete: is a built-in status'],
    ['=success', 'is not a status of 1 to 200 characters'],
    ['warning', '--traces.status-map: takes a map of statuses, found the text "warning" (for example { warning: suc'],
  ])('refuses %j', async (given, message) => {
    const complaints = await complain({ argv: [`--traces.status-map=${given}`] });
    expect(complaints).toEqual([expect.stringContaining(message)]);
  });

  it('accepts any name', async () => {
    const { config } = await load({ argv: ['--traces.status-map=__proto__=skip'] });
    expect(Object.entries(config.traces.statusMap)).toEqual([['__proto__', 'skip']]);
  });
});
