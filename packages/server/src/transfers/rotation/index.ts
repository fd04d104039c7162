export { advanceRotation, CLOSING_ALARM_SECONDS, ROTATION_JOB, rotationJob } from './advance-rotation.ts';
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
