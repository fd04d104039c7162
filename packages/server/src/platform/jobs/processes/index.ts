export { listProcesses, type RunningProcess } from './list-processes.ts';
