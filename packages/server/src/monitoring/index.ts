export { installationRoutes } from './installation-routes.ts';
export { listenForMonitoring, type MonitoringListener } from './listener.ts';
export { localMetricsPage, metricsPage } from './metrics-page.ts';
export { observeChains, observeJobs } from './observed.ts';
export { healthPages } from './readiness.ts';
export { createRunningReader, type Running } from './running.ts';
export { presentRunning } from './running-routes.ts';
export { createStateReader, type ServiceState } from './state.ts';
