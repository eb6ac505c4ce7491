// A thread that sends a message at random moments, `workerData` times a second; the same moments in every run.

import { parentPort, workerData } from 'node:worker_threads'

const never = new Int32Array(new SharedArrayBuffer(4)) // nothing wakes this thread
let state = 1
const random = () => (state = (state * 48271) % 2147483647) / 2147483647 // MINSTD

for (let due = performance.now(); ; due += (-Math.log(random()) * 1000) / workerData) {
  const left = due - performance.now()
  if (left > 0) Atomics.wait(never, 0, 0, left)
  parentPort.postMessage(null)
}
