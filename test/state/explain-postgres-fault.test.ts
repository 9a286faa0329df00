import { describe, expect, it } from 'vitest';
import {
  explainPostgresFault,
  isRetryable,
  leavesCommitOpen,
} from '../../src/state/postgres/explain-postgres-fault.ts';

const place = { host: 'db', port: 5432, database: 'exporter' };

describe('state/postgres/explain-postgres-fault', () => {
  it.each([
    [{ code: 'ECONNREFUSED' }, 'db:5432 cannot be reached (ECONNREFUSED); start the database, or correct its address'],
    [{ message: 'The server does not support SSL connections' }, 'db:5432 offers no TLS; '],
    [{ code: 'CERT_HAS_EXPIRED' }, 'the certificate of db:5432 is not accepted (CERT_HAS_EXPIRED); '],
    [
      { message: 'client password must be a string' },
      'the database asks for a password; set `state.postgres.password_file`',
    ],
    [{ message: 'timeout expired' }, 'db:5432 did not respond in time; '],
    [{ code: 'EPIPE' }, 'the connection to db:5432 was lost; '],
    [{ message: 'Connection terminated unexpectedly' }, 'the connection to db:5432 was lost; '],
    [{ code: '53100' }, 'the disk of the database is full; make room there'],
    [{ code: '53400' }, 'the database lacks memory, disk space or other resources'],
    [{ code: '0A000', message: 'not offered' }, 'not offered (0A000)'],
    [{ message: 'odd' }, 'odd'],
    [{}, 'unknown error'],
  ])('explains the error %o', (error, start) => {
    expect(explainPostgresFault(error, place).slice(0, start.length)).toBe(start);
  });

  it.each([
    ['40001', 'failed because of another transaction', true, false],
    ['40P01', 'failed because of another transaction', true, false],
    ['23505', 'failed', false, false],
    ['40003', 'may have happened', false, true],
    ['08006', 'may have happened', false, true],
    ['57P01', 'may have happened', false, true],
    ['EPIPE', 'may have happened', false, true],
    [undefined, 'may have happened', false, true],
  ])('after the error %s, a commit %s', (code, _what, isTriedAgain, isOpen) => {
    expect([isRetryable({ code }), leavesCommitOpen({ code })]).toEqual([isTriedAgain, isOpen]);
  });
});
