// Sends requests over keep-alive connections and measures the answers. Usage: node load.mjs PLAN.json
//
// The plan: { port, connections, warmup, least, seconds, amount, rate, first, requests: [{ head, body }] }; times in s,
// the rate per second. The warm-up lasts until at least so many requests were answered. With an amount, it waits for that
// many answers, however long they take. `first` is the place of the first request, as a share of all.
// Without a rate, each connection sends its next request when it has its answer. With a rate, requests become due at
// random moments, the same in every run, whether or not earlier ones were answered. A request that waits for a free
// connection is measured from the moment it was due, so a server that falls behind cannot hide it. The moments come from
// a thread of their own (`clock.mjs`). Timers of Node count whole milliseconds, so all that is due in one would be sent as
// a bunch, and its requests would wait for each other.
//
// Prints `begin` when the warm-up is over, and the result as JSON when the time is.

import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'

const ERRORS = 'rrors":[{' // ends the names of both lists of errors, `errors` and `userErrors`

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const requests = plan.requests.map(({ head, body }) =>
  Buffer.from(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`))
const now = () => performance.now()

let measuring = false
let stopped = false
let failures = 0
let example = null // of a failure
const latencies = []
let next = Math.floor(plan.first * requests.length)
let answered = 0 // requests, whether measured or not
let unanswered = 0 // requests that are due, whether sent or waiting

/** One connection, with at most one request under way. */
class Connection {
  #chunks = []
  #missing = -1 // bytes of the answer that are missing, -1 before its head is complete
  #since = 0
  #isFree = true // between two requests

  constructor(onAnswer) {
    this.onAnswer = onAnswer
    this.#connect()
  }

  #connect() {
    this.socket = connect({ port: plan.port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', (chunk) => this.#read(chunk))
    this.socket.on('error', fail)
    this.socket.on('close', () => {
      if (stopped) return
      if (!this.#isFree) fail(new Error('the server closed a connection'))
      this.#connect() // Bun closes connections on which no request comes for ten seconds
    })
  }

  send(since = now()) {
    unanswered += 1
    this.#isFree = false
    this.#since = since
    this.socket.write(requests[next++ % requests.length])
  }

  #read(chunk) {
    this.#chunks.push(chunk)
    if (this.#missing < 0) {
      const seen = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : chunk
      const end = seen.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /\r\ncontent-length: *(\d+)/i.exec(seen.latin1Slice(0, end))
      if (!length) return fail(new Error(`an answer without a length: ${seen.latin1Slice(0, end)}`))
      this.#missing = end + 4 + Number(length[1]) - seen.length
    } else {
      this.#missing -= chunk.length
    }
    if (this.#missing === 0) this.#finish()
  }

  #finish() {
    const taken = now() - this.#since
    const answer = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : this.#chunks[0]
    this.#chunks = []
    this.#missing = -1
    this.#isFree = true
    unanswered -= 1
    answered += 1
    const isGood = answer.latin1Slice(9, 12) === '200' && !answer.includes(ERRORS)
    const counts = measuring && isGood && this.#since >= began
    if (counts && latencies.push(taken) === plan.amount) end()
    if (!isGood) {
      failures += 1
      example ??= answer.toString('utf8', 0, 600)
    }
    if (!stopped) this.onAnswer(this)
  }
}

function fail(error) {
  console.error(error.stack) // an error's message may be empty
  process.exit(1)
}

function runClosed() {
  for (let i = 0; i < plan.connections; i++) new Connection((connection) => connection.send()).send()
}

function runOpen() {
  const waiting = [] // due times of requests that wait for a free connection
  const free = []
  const release = (connection) => {
    if (!waiting.length) return free.push(connection)
    unanswered -= 1
    connection.send(waiting.shift())
  }
  for (let i = 0; i < plan.connections; i++) free.push(new Connection(release))
  const clock = new Worker(new URL('clock.mjs', import.meta.url), { workerData: plan.rate })
  clock.on('message', () => {
    if (stopped) return
    if (free.length) return free.pop().send()
    waiting.push(now())
    unanswered += 1
  })
}

function percentile(sorted, share) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] : null
}

let began
let cpu

function begin() {
  if (answered < plan.least) return setTimeout(begin, 10)
  began = now()
  cpu = process.cpuUsage()
  measuring = true
  console.log('begin')
  if (!plan.amount) setTimeout(end, plan.seconds * 1000)
}

function end() {
  stopped = true
  measuring = false
  const seconds = (now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const sorted = Float64Array.from(latencies).sort()
  const result = {
    answered: sorted.length, unanswered, failures, example, seconds, cpu: (user + system) / 1e6,
    p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99),
  }
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0))
}

if (plan.rate) runOpen()
else runClosed()
setTimeout(begin, plan.warmup * 1000)
