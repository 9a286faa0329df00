import { expect, it } from 'vitest';
import { createJobNames } from '../../src/daemon/pages/job-names.ts';
import { createScene } from '../diagnosis/scene.ts';

const schedule = { everyMs: 3_600_000, offsetMs: 0 };

it('finds the current name of a job by its earlier names', async () => {
  const scene = createScene();
  const names = () => createJobNames(scene.daemon());
  const { control } = scene;
  control.createProject('pay');
  const scheduled = control.createJob('pay', { name: 'settle', group: 'nightly', schedule });
  const byHand = control.createJob('pay', { name: 'report' });
  const neverRan = control.createJob('pay', { name: 'archive' });
  control.runJob(byHand);
  await scene.minutes(3);
  expect(['pay/nightly/settle', 'pay/report', 'pay/archive', 'pay/none'].map(names().movedTo)).toEqual(
    Array(4).fill(undefined),
  );
  control.changeJob(scheduled, { name: 'balance' });
  control.changeJob(byHand, { name: 'summary' });
  control.changeJob(neverRan, { group: 'old' });
  await scene.minutes(12);
  control.changeJob(neverRan, { name: 'store' });
  control.changeJob(byHand, { group: 'monthly' });
  await scene.minutes(12);
  expect(names().movedTo('pay/nightly/settle')).toBe('pay/nightly/balance');
  expect(names().movedTo('pay/report')).toBe('pay/monthly/summary');
  const [why] = names().why('pay/nightly/settle');
  expect([why?.name, why?.sentence]).toEqual([
    'balance',
    `pay/nightly/settle is named pay/nightly/balance now. ${names().why(scheduled)[0]?.sentence}`,
  ]);
  expect(names().movedTo('pay/archive')).toBe('pay/old/store');
  expect(names().movedTo('pay/monthly/summary')).toBeUndefined();
  expect(names().idOf('pay/monthly/summary')).toBe(byHand);
  // Another job now has the former name of the job.
  const other = control.createJob('pay', { name: 'report' });
  await scene.minutes(12);
  expect(names().movedTo('pay/report')).toBeUndefined();
  expect(names().idOf('pay/report')).toBe(other);
});
