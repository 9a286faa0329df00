import { afterEach, describe, expect, it } from 'vitest';
import { type Played, play as startPlay } from './play.ts';
import type { SceneOptions } from './scene.ts';

let played: Played | undefined;
afterEach(() => played?.stop());

async function play(options: SceneOptions = {}): Promise<Played> {
  played = await startPlay(options);
  return played;
}

const nothingRuns = (project: string): string =>
  `automation_executions_running{project="${project}",job_group="",job_name=""} 0`;

describe('executions/sight', () => {
  it('hides nothing from credentials that may read everything', async () => {
    const { rounds, finish, sight } = await play();
    await rounds(2);
    finish('pay');
    await rounds(2);
    expect(sight()).toEqual({ running: 'known', runningDenied: [], history: [] });
  });

  it('says what is counted and not shown, and that nothing that runs may be read', async () => {
    const { control, simulator, rounds, finish, sight, shown } = await play();
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { events: [] } });
    finish('pay');
    finish('pay');
    await rounds(10);
    const history = [{ project: 'pay', counted: 2, readable: 0 }];
    expect(sight()).toEqual({ running: 'denied', runningDenied: [], history });
    expect(shown('automation_executions_running')).toEqual([]);

    control.addToken({ token: simulator.token });
    await rounds(10);
    expect(sight()).toEqual({ running: 'known', runningDenied: [], history: [] });
    expect(shown('automation_executions_running')).toEqual([nothingRuns('pay')]);
  });

  it('says that a project is denied that could be read before', async () => {
    const { control, simulator, rounds, sight } = await play();
    control.createProject('stock');
    await rounds(2);
    control.addToken({ token: simulator.token, policy: { projects: ['stock'], events: ['stock'] } });
    await rounds(10, 60_000);
    expect(sight().history).toEqual([{ project: 'pay', counted: undefined, readable: 0 }]);
  });
});
