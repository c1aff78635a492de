// Prints as JSON what graphile-worker sends to claim one job, to claim ten, and to complete them.
// Its own functions are called with a client that only takes notes.
import { batchCompleteJobs } from "./node_modules/graphile-worker/dist/sql/completeJobs.js";
import { batchGetJobs } from "./node_modules/graphile-worker/dist/sql/getJobs.js";

const options = {
  escapedWorkerSchema: "graphile_worker",
  workerSchema: "graphile_worker",
  resolvedPreset: { worker: { preparedStatements: true, useNodeTime: false } },
};
let sent;
const client = {
  query: async ({ text }) => {
    sent = text;
    return { rows: [{ id: 1, identifier: "report" }] };
  },
};
const withPgClient = Object.assign((use) => use(client), { withRetries: (use) => use(client) });
const job = { id: 1, job_queue_id: null };

async function claim(n) {
  await batchGetJobs(options, withPgClient, { report: true }, "worker", [], n);
  return sent;
}

async function complete(jobs) {
  await batchCompleteJobs(options, withPgClient, "worker", jobs);
  return sent;
}

console.log(
  JSON.stringify({
    claim: await claim(1),
    claimTen: await claim(10),
    complete: await complete([job]),
    completeTen: await complete(Array(10).fill(job)),
  }),
);
