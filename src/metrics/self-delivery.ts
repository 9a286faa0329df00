import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * Creates the instruments of trace delivery. They have no value until the first one is set: a daemon that sends no traces does
 * not show them.
 */
export function createDeliveryInstruments(registers: Registry[]) {
  const spansExported = new Counter({
    name: 'automation_exporter_spans_exported_total',
    help: 'Spans accepted by the trace backend.',
    registers,
  });
  const spoolTraces = new Gauge({
    name: 'automation_exporter_spool_traces',
    help: 'Finished traces waiting for delivery, without quarantined traces.',
    registers,
  });
  const spoolBytes = new Gauge({
    name: 'automation_exporter_spool_bytes',
    help: 'Size of the traces waiting for delivery.',
    registers,
  });
  const spoolOldest = new Gauge({
    name: 'automation_exporter_spool_oldest_timestamp_seconds',
    help: 'Time when the next trace to be delivered was finished; absent while no trace is waiting.',
    registers,
  });
  const tracesQuarantined = new Gauge({
    name: 'automation_exporter_traces_quarantined',
    help: 'Quarantined traces: the trace backend rejected or never acknowledged them individually. They are kept until they are retried or dropped.',
    registers,
  });
  for (const instrument of [spansExported, spoolTraces, spoolBytes, spoolOldest, tracesQuarantined])
    instrument.remove();
  return {
    spansExported,
    spansRejected: new Counter({
      name: 'automation_exporter_spans_rejected_total',
      help: 'Spans that did not reach the trace backend, by reason: partial_success (the rest of the request was accepted), refused (the trace is quarantined), unanswered (the trace never received a response although others did, and is quarantined), dropped (a quarantined trace was dropped by hand or because the quarantine was full).',
      labelNames: ['reason'],
      registers,
    }),
    pagesForgotten: new Counter({
      name: 'automation_exporter_execution_pages_forgotten_total',
      help: 'Execution pages removed from memory, by reason: count (more than 1,000 pages), bytes (more than 32 MB), too_large (a single page exceeds 32 MB), configuration (the options about what pages may show changed).',
      labelNames: ['reason'],
      registers,
    }),
    spoolTraces,
    spoolBytes,
    spoolOldest,
    tracesQuarantined,
  };
}
