import { frame } from './pieces/frame.ts';
import { serverVariable } from './pieces/variables.ts';
import { applicationRow } from './server/application.ts';
import { availabilityRow } from './server/availability.ts';
import { healthRow } from './server/health.ts';
import { resourcesRow } from './server/resources.ts';

/** One server: is it up, is it healthy, and does it have room to work? */
export function server(): object {
  return frame({
    uid: 'automation-server',
    title: 'Automation service: server',
    description: 'Is the server up and active, does it call itself healthy, and does it have room to work?',
    variables: [serverVariable()],
    rows: [availabilityRow(), healthRow(), resourcesRow(), applicationRow()],
  });
}
