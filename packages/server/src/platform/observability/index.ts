export { createLogger, type Logger, withLogFields } from './log.ts';
export { isLineDue } from './log-rarely.ts';
export { Metrics } from './metrics.ts';
export { activeTrace, traced } from './tracing.ts';
