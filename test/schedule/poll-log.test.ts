import { describe, expect, it } from 'vitest';
import { ApiError, type ErrorKind } from '../../src/api/errors.ts';
import { judge, type Outcome } from '../../src/schedule/outcome.ts';
import { createPollLog } from '../../src/schedule/poll.ts';

const good: Outcome = { result: 'success', series: 3 };

function setUp(isVital = false) {
  const lines: string[] = [];
  const write = (level: string) => (_fields: object, message: string) => lines.push(`${level} ${message}`);
  let isAway = false;
  const log = { debug: () => 0, info: write('info'), warn: write('warn'), error: write('error') };
  const { note } = createPollLog({ key: { server: 'prod', collector: 'users' }, log, isVital, isAway: () => isAway });
  return {
    lines,
    succeed: () => note(good, undefined),
    fail: (kind: ErrorKind, status?: number) => {
      const error = new ApiError('GET users', {
        kind,
        apiEndpoint: 'users',
        ...(status === undefined ? {} : { status }),
      });
      note(judge(error, []), error);
    },
    goAway: (away: boolean) => {
      isAway = away;
    },
  };
}

describe('schedule/poll-log', () => {
  it('does not log the failure of a poll while its server is down', () => {
    const { lines, succeed, fail, goAway } = setUp();
    succeed();
    // The next vital poll fails too.
    fail('network');
    goAway(true);
    fail('network');
    fail('timeout');
    goAway(false);
    succeed();
    expect(lines).toEqual([]);
  });

  it('logs the failure and the recovery of a poll without an outage', () => {
    const { lines, succeed, fail } = setUp();
    const time = (): void => fail('timeout');
    for (const step of [succeed, time, time, succeed, time, time, time, time, succeed]) step();
    expect(lines).toEqual(['warn poll failed', 'info poll recovered']);
  });

  it('logs a failure of only one poll immediately', () => {
    const { lines, succeed, fail } = setUp();
    for (const step of [() => fail('decode', 200), () => fail('decode', 200), succeed, succeed]) step();
    expect(lines).toEqual(['warn poll failed', 'info poll recovered']);
  });
});
