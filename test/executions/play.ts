import { onTestFinished } from 'vitest';
import { createScene, type SceneOptions } from './scene.ts';

type Finish = { readonly agoMs?: number; readonly isAdHoc?: boolean; readonly jobId?: string };

/** A service with one job, whose runs take two seconds. */
export async function play(options: SceneOptions = {}) {
  const played = await createScene(options);
  onTestFinished(played.stop);
  const { control, nowMs, shown } = played;
  control.createProject('pay');
  const job = control.createJob('pay', { name: 'settle', group: 'nightly' });
  return {
    ...played,
    job,
    finish: (project: string, { agoMs = 0, isAdHoc = false, jobId = job }: Finish = {}): number => {
      const endedAtMs = nowMs() - agoMs;
      return control.addFinished(project, { ...(isAdHoc ? {} : { jobId }), startedAtMs: endedAtMs - 2000, endedAtMs });
    },
    /** All counts above 0, each with its project, job and status. */
    counted: (): string[] =>
      shown('automation_executions_total').flatMap((line) => {
        const [, project, name, status, count] =
          /project="(.*?)".*job_name="(.*?)",status="(.*?)"} (\d+)/.exec(line) ?? [];
        return count === '0' ? [] : [`${project} ${name} ${status} ${count}`];
      }),
  };
}

export type Played = Awaited<ReturnType<typeof play>>;
