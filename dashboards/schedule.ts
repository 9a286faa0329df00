import { frame } from './pieces/frame.ts';
import { serverVariable } from './pieces/variables.ts';
import { aheadRow } from './schedule/ahead.ts';
import { missesRow } from './schedule/misses.ts';
import { punctualityRow } from './schedule/punctuality.ts';

/** Did every scheduled run happen, and what comes next? */
export function schedule(): object {
  return frame({
    uid: 'automation-schedule',
    title: 'Automation service: schedule',
    description: 'Did every scheduled run happen, how late did runs start, why was one missed, and what comes next?',
    variables: [serverVariable()],
    rows: [missesRow(), punctualityRow(), aheadRow()],
  });
}
