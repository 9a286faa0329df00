import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorDetails, type ErrorKind } from '../../src/api/errors.ts';
import { createRoundFaults, type RoundFaults } from '../../src/executions/reading/round-faults.ts';

describe('executions/round-faults', () => {
  it('continues with the other parts of a round after errors', async () => {
    const { faults } = setUp();
    await faults.ask(async () => undefined);
    for (let count = 0; count < 3; count += 1) await faults.ask(failing('timeout'));
    expect(faults.all).toHaveLength(3);
    expect(faults.silence()).toBeUndefined();
  });

  it('does not count limits of the exporter as errors', async () => {
    const { faults } = setUp();
    await faults.attempt(failing('timeout', { unsent: true, isOwnLimit: true }));
    expect([faults.all.length, faults.unasked()]).toEqual([0, 1]);
    expect(faults.silence()).toMatchObject({ details: { isOwnLimit: true } });
  });

  it.each<readonly [string, ErrorKind, Partial<ApiErrorDetails>]>([
    ['refused credentials', 'unauthorized', {}],
    ['an open circuit', 'timeout', { unsent: true }],
    ['a server that asked to be left alone', 'busy', { unsent: true }],
  ])('ends the round at %s', async (_name, kind, details) => {
    const { faults } = setUp();
    await faults.ask(async () => undefined);
    await expect(faults.attempt(failing(kind, details))).rejects.toMatchObject({ kind });
  });

  it('continues after a request that could not be sent', async () => {
    const { faults } = setUp();
    await faults.attempt(failing('rejected', { unsent: true }));
    expect(faults.all).toHaveLength(1);
  });

  it.each<readonly [ErrorKind, number | undefined, boolean]>([
    ['timeout', undefined, true],
    ['network', undefined, true],
    ['server', 503, true],
    ['html', 200, true],
    ['server', 500, false],
    ['decode', 200, false],
    ['forbidden', 403, false],
  ])('sends no third request after two that end in %s %s', async (kind, status, ends) => {
    const { faults } = setUp();
    const fault = failing(kind, status === undefined ? {} : { status });
    await faults.ask(fault);
    const ended = await faults.ask(fault).then(
      () => false,
      () => true,
    );
    expect(ended).toBe(ends);
    expect(faults.silence()).toMatchObject({ kind });
  });

  it('reports after a round whether the server was reachable', async () => {
    const { faults } = setUp();
    const timeout = new ApiError('no answer', { kind: 'timeout', apiEndpoint: 'any' });
    expect(faults.isOfRound(timeout)).toBe(false);
    await faults.ask(async () => undefined);
    expect(faults.isOfRound(timeout)).toBe(true);
    expect(faults.isOfRound(new ApiError('refused', { kind: 'unauthorized', apiEndpoint: 'any' }))).toBe(false);
    expect(faults.isOfRound(new Error('a mistake of ours'))).toBe(false);
  });

  it('reports the server as unreachable although a part of the round needed no request', async () => {
    const { faults } = setUp();
    await faults.attempt(async () => undefined);
    await faults.ask(failing('network'));
    expect(faults.silence()).toMatchObject({ kind: 'network' });
  });

  it('rethrows errors that end the whole poll', async () => {
    const { faults, ending } = setUp();
    await faults.ask(async () => undefined);
    ending.abort();
    await expect(faults.ask(failing('network'))).rejects.toMatchObject({ kind: 'network' });
  });
});

function setUp(): { readonly faults: RoundFaults; readonly ending: AbortController } {
  const ending = new AbortController();
  return { faults: createRoundFaults(ending.signal), ending };
}

function failing(kind: ErrorKind, details: Partial<ApiErrorDetails> = {}): () => Promise<never> {
  return async () => {
    throw new ApiError(`failed: ${kind}`, { kind, apiEndpoint: 'any', ...details });
  };
}
