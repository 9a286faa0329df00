import { describe, expect, it } from 'vitest';
import { toWatcher, toWatcherText } from '../../src/status/watcher.ts';

const lease = { isOwned: false, owner: 'http://b.example.org:9720/', epoch: 3, expiresInMs: 4000 };
const own = { externalUrl: 'http://a.example.org:9720', url: 'http://localhost:9720' };

describe('status/watcher', () => {
  it('decides whether this exporter, another exporter or no exporter watches a server', () => {
    expect(toWatcher({ ...lease, isOwned: true }, own)).toEqual({ is: 'us' });
    expect(toWatcher(lease, own)).toEqual({ is: 'other', address: lease.owner, page: 'http://b.example.org:9720' });
    expect(toWatcher({ ...lease, expiresInMs: 0 }, own)).toEqual({ is: 'nobody' });
    expect(toWatcher(undefined, own)).toEqual({ is: 'nobody' });
  });

  it.each([
    ['the address that all exporters have in common', 'http://a.example.org:9720/', own],
    ['a loopback address of another machine', 'http://localhost:9720', own],
    ['the same address if no external URL is configured', 'http://localhost:9720', { ...own, externalUrl: undefined }],
    ['a loopback address if no external URL is configured', 'http://[::1]:9', { ...own, externalUrl: undefined }],
  ])('does not link to %s', (_, address, ours) => {
    const watcher = toWatcher({ ...lease, owner: address }, ours);
    expect(watcher).toEqual({ is: 'other', address, page: undefined });
    // This cast is safe: the comparison has checked it.
    expect(toWatcherText({ server: 'prod', watcher: watcher as Exclude<typeof watcher, { is: 'us' }> })).toBe(
      `"prod" is watched by another exporter: ${address}, which has no web.external_url of its own`,
    );
  });

  it('links to another port of this machine if that is configured', () => {
    const ours = { ...own, externalUrl: 'http://localhost:9731' };
    expect(toWatcher({ ...lease, owner: 'http://localhost:9732' }, ours)).toMatchObject({
      page: 'http://localhost:9732',
    });
  });
});
