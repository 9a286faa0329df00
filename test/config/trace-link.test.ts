import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

describe('config/trace-link', () => {
  it.each([
    'https://traces.example.org/trace/{trace_id}',
    'HTTP://localhost:3000/explore?left={"query":"{trace_id}"}&x={trace_id}#top',
  ])('accepts %s unchanged', async (link) => {
    const { config } = await load({ argv: [`--traces.link=${link}`] });
    expect(config.traces.link).toBe(link);
  });

  it.each([
    [
      'https://traces.example.org/trace/',
      'has no {trace_id} (for example https://traces.example.org/trace/{trace_id})',
    ],
    [
      'javascript:alert("{trace_id}")',
      'is not a web address (for example https://traces.example.org/trace/{trace_id})',
    ],
    ['/trace/{trace_id}', 'is not a web address (for example https://traces.example.org/trace/{trace_id})'],
    ['https:///{trace_id}', 'is not a web address (for example https://traces.example.org/trace/{trace_id})'],
    ['https://a b/{trace_id}', 'is not a web address (for example https://traces.example.org/trace/{trace_id})'],
    [
      'https://me:hunter2@traces.example.org/{trace_id}',
      'contains a user or a password (they would be visible to everyone who sees the page)',
    ],
  ])('refuses %s and does not repeat it', async (link, complaint) => {
    expect(await complain({ argv: [`--traces.link=${link}`] })).toEqual([`--traces.link: ${complaint}`]);
  });
});
