export { advanceRotation, costOfMove } from './advance-rotation.ts';
export { ownerTasks } from './decide.ts';
export {
  closeWallet,
  countOpenTransactions,
  findOpenRotation,
  findRotation,
  keepOpen,
  type RotationRow,
  reopenWallet,
  switchWallet,
} from './queries.ts';
export { ROTATION_JOB, rotationJob } from './rotation-job.ts';
