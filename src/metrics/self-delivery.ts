import { Counter, Gauge, type Registry } from 'prom-client';

/** How the delivery of traces goes. Nothing is said of any of them before it was set: where no traces are sent, none are there. */
export function createDeliveryInstruments(registers: Registry[]) {
  const spansExported = new Counter({
    name: 'automation_exporter_spans_exported_total',
    help: 'Spans that the collector has taken.',
    registers,
  });
  const spoolTraces = new Gauge({
    name: 'automation_exporter_spool_traces',
    help: 'Finished traces that wait to be delivered; those that are quarantined are left out.',
    registers,
  });
  const spoolBytes = new Gauge({
    name: 'automation_exporter_spool_bytes',
    help: 'Size of the traces that wait to be delivered.',
    registers,
  });
  const spoolOldest = new Gauge({
    name: 'automation_exporter_spool_oldest_timestamp_seconds',
    help: 'When the trace that waits to be delivered next was finished; absent while none waits.',
    registers,
  });
  const tracesQuarantined = new Gauge({
    name: 'automation_exporter_traces_quarantined',
    help: 'Traces that the collector refused or never answered for themselves alone, kept until they are sent again or dropped.',
    registers,
  });
  for (const instrument of [spansExported, spoolTraces, spoolBytes, spoolOldest, tracesQuarantined])
    instrument.remove();
  return {
    spansExported,
    spansRejected: new Counter({
      name: 'automation_exporter_spans_rejected_total',
      help: 'Spans that did not get to the backend: partial_success (taken without them), refused (their trace is quarantined), unanswered (their trace never got an answer although others did, and is quarantined), dropped (quarantined, and then dropped by hand, or since too many were).',
      labelNames: ['reason'],
      registers,
    }),
    pagesForgotten: new Counter({
      name: 'automation_exporter_execution_pages_forgotten_total',
      help: 'Executions whose page with its steps is gone although the exporter did not restart: count (more than 1,000 are kept), bytes (more than 32 MB), too_large (one alone is more than that), configuration (what may be shown has changed).',
      labelNames: ['reason'],
      registers,
    }),
    spoolTraces,
    spoolBytes,
    spoolOldest,
    tracesQuarantined,
  };
}
