import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { findForeign } from '../../src/state/sqlite-open.ts';
import { makeFolder } from '../support/folder.ts';

const key = { server: 'prod', collector: 'execution-mode' };
let parent: string;
let dir: string;

beforeEach(() => {
  parent = makeFolder();
  dir = join(parent, 'deep', 'state');
});

describe('state/sqlite', () => {
  it('keeps the stored values of each server and collector across a restart', async () => {
    const first = openSqliteState({ dir });
    await first.remember(key, { mode: 'active' });
    await first.remember(key, { mode: 'passive', changedAtMs: 5 });
    await first.close();

    const second = openSqliteState({ dir });
    expect(await second.recall(key)).toEqual({ mode: 'passive', changedAtMs: 5 });
    expect(await second.recall({ ...key, server: 'other' })).toBeUndefined();
    await second.close();
  });

  it('lets no other user read its files', async () => {
    const state = openSqliteState({ dir });
    await state.remember(key, { mode: 'active' });

    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect(modeOf(dir)).toBe('700');
    expect(modeOf(join(dir, 'state.sqlite'))).toBe('600');
    expect(modeOf(join(dir, 'state.sqlite-wal'))).toBe('600');
    await state.close();
  });

  it('refuses a directory that another process uses', async () => {
    const hold = `
      const { openSqliteState } = await import(${JSON.stringify(new URL('../../src/state/sqlite.ts', import.meta.url).href)});
      openSqliteState({ dir: ${JSON.stringify(dir)} });
      process.kill(process.pid, 'SIGKILL');
    `;
    const owner = openSqliteState({ dir });
    expect(() => openSqliteState({ dir })).toThrow(
      `the state directory ${dir} cannot be used: another process uses the state; stop the other process, or set another \`state.dir\``,
    );
    await owner.close();

    expect(() => execFileSync(process.execPath, ['--input-type=module', '-e', hold], { stdio: 'ignore' })).toThrow(
      'Command failed',
    );
    await openSqliteState({ dir }).close();
  });

  it('removes a partial copy left by a killed process', async () => {
    await openSqliteState({ dir }).close();
    const names = ['backup.sqlite.half', 'backup.sqlite.half-wal', 'state.sqlite.half'];
    for (const name of names) writeFileSync(join(dir, name), 'half');
    await openSqliteState({ dir }).close();
    expect(readdirSync(dir)).toEqual(['state.commits', 'state.sqlite']);
  });

  it('explains what to do if the path of the directory is a file', () => {
    writeFileSync(join(parent, 'deep'), 'no directory');
    expect(() => openSqliteState({ dir })).toThrow(
      `the state directory ${dir} cannot be used: the path is not a directory; choose another \`state.dir\``,
    );
  });

  it('explains what to do if a directory cannot be created', () => {
    expect(() => openSqliteState({ dir: '/proc/nope/state' })).toThrow(
      'the state directory /proc/nope/state cannot be used: no permission; give the user of this process write access',
    );
  });

  it.each(['state.sqlite', 'state.sqlite-wal', 'state.commits', 'backup.sqlite.half'])(
    'follows no link in its directory when it writes (%s)',
    async (name) => {
      const other = join(parent, 'other');
      writeFileSync(other, 'of somebody else');
      mkdirSync(dir, { recursive: true });
      symlinkSync(other, join(dir, name));
      expect(() => openSqliteState({ dir })).toThrow(
        `the state directory ${dir} cannot be used: the file ${name} is a link; put the file itself there`,
      );
      expect(readFileSync(other, 'utf8')).toBe('of somebody else');
    },
  );

  it('does not use a directory or a file of another user', () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'state.sqlite'), '');
    symlinkSync('elsewhere', join(dir, 'not-of-the-state'));
    const [user, other, root] = [4711, 4712, 0];
    // Only root can change the owner of a file.
    const owner = process.getuid?.() === root ? other : process.getuid?.();
    const give = (path: string, to = root): void => chownSync(path, to, to);
    give(join(dir, 'state.sqlite'), owner);
    expect(findForeign(dir, owner)).toBeUndefined();
    expect(findForeign(dir, user)).toContain(`belongs to another user (${owner})`);
    give(dir, owner);
    expect(findForeign(dir, user)).toBe(
      `the directory belongs to another user (${owner}); chown it, or choose another \`state.dir\``,
    );
  });

  it.skipIf(process.getuid?.() !== 0)('names a file that only root can use', () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'backup.sqlite'), '');
    chmodSync(join(dir, 'backup.sqlite'), 0o600);
    expect(findForeign(dir, 4711)).toBe(
      'the file backup.sqlite belongs to root only; chown this file to the user of this process (4711)',
    );
    chmodSync(join(dir, 'backup.sqlite'), 0o660);
    expect(findForeign(dir, 4711)).toBeUndefined();
  });

  it.each([
    { mode: 0o777, says: 'other users can replace the directory: they can write to its parent directory' },
    { mode: 0o1777, says: undefined },
    { mode: 0o775, says: undefined },
  ])('does not use a directory that others can replace (%o)', ({ mode, says }) => {
    const above = join(parent, 'deep');
    mkdirSync(dir, { recursive: true });
    chmodSync(above, mode);
    const danger = says && `${says}; chmod or chown ${above}, or choose another \`state.dir\``;
    expect(findForeign(dir)).toBe(danger);
    const link = join(parent, 'link');
    symlinkSync(dir, link);
    expect(findForeign(link)).toBe(danger);
  });

  it('does not change the state of a newer version', async () => {
    await openSqliteState({ dir }).close();
    const database = new DatabaseSync(join(dir, 'state.sqlite'));
    database.exec('PRAGMA user_version = 99; UPDATE state_identity SET version = 99');
    database.close();

    expect(() => openSqliteState({ dir })).toThrow('the state is of a newer version (99; this release supports 4)');
  });
});
