import { expect, it } from 'vitest';
import { play } from './play.ts';
const dayMs = 86_400_000;
it('goes on after being down for longer than the catch-up limit', async () => {
  const p = await play();
  await p.rounds(3);
  p.finish('pay');
  p.pass(10 * dayMs);
  p.finish('pay');
  await p.rounds(20);
  console.log(p.told, p.counted(), p.lag(), JSON.stringify((await p.ledger.load("upstream")).filter((d) => d.kind === "project" || d.kind==="server").map((d) => d.body)), p.nowMs());
});
