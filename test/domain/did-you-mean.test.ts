import { describe, expect, it } from 'vitest';
import { didYouMean } from '../../src/domain/complaint.ts';

const known = ['listen_address', 'telemetry_path', 'external_url', 'url', 'name'];

describe('config/did-you-mean', () => {
  it.each([
    ['listen_adress', 'did you mean listen_address?'],
    ['listenaddress', 'did you mean listen_address?'],
    ['LISTEN_ADDRESS', 'did you mean listen_address?'],
    ['ulr', 'did you mean url?'],
    ['urls', 'did you mean url?'],
    ['nmae', 'did you mean name?'],
    ['colour', undefined],
    ['x', undefined],
    ['', undefined],
    ['a'.repeat(100_000), undefined],
  ])('suggests for %.20s the option that was probably meant, or nothing', (word, hint) => {
    expect(didYouMean(word, known)).toBe(hint);
  });
});
