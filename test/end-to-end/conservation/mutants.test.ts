import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.ts';
import { playScene } from './scene.ts';

describe('end-to-end/conservation/mutants', () => {
  it.each(mutants)('detects a faulty daemon by its counters: $name', async ({ name, make, trouble }) => {
    const right = await playScene(trouble);
    const wrong = await playScene(trouble, make());
    process.stdout.write(`${name}: ${wrong[0] ?? 'survived'}\n`);
    expect(right, 'with the right parts').toEqual([]);
    expect(wrong, 'survived').not.toEqual([]);
  });
});
