// libcu++: atomics of all scopes and orders, fences, semaphores, barriers.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/semaphore>

template <typename T, cuda::thread_scope S> __device__ void each(void *p, T v) {
  using namespace cuda;
  auto &a = *static_cast<cuda::atomic<T, S> *>(p);
  T e = v;
  a.store(v), a.store(v, memory_order_release),
      a.store(v, memory_order_relaxed);
  v += a.load() + a.load(memory_order_acquire) + a.load(memory_order_relaxed);
  v += a.exchange(v) + a.exchange(v, memory_order_acq_rel);
  a.compare_exchange_strong(e, v);
  a.compare_exchange_weak(e, v, memory_order_acquire);
  v += a.fetch_add(v) + a.fetch_add(v, memory_order_relaxed) + a.fetch_sub(v);
  v += a.fetch_min(v) + a.fetch_max(v);
  if constexpr (cuda::std::is_integral<T>::value)
    v += a.fetch_and(v) + a.fetch_or(v, memory_order_release) + a.fetch_xor(v);
  a = v;
}

template <typename T> __device__ void scopes(void *p) {
  each<T, cuda::thread_scope_system>(p, 1);
  each<T, cuda::thread_scope_device>(p, 1);
  each<T, cuda::thread_scope_block>(p, 1);
}

__global__ void atomics(void *p) {
  scopes<int>(p), scopes<unsigned long long>(p), scopes<float>(p);
  scopes<char>(p);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst);
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel,
                            cuda::thread_scope_block);
  cuda::atomic_ref<int, cuda::thread_scope_device> r(*(int *)p);
  r.fetch_add(1), r.wait(3), r.notify_all();
}

__global__ void waits(cuda::barrier<cuda::thread_scope_device> *b,
                      cuda::counting_semaphore<cuda::thread_scope_device> *s) {
  b->arrive_and_wait();
  s->acquire(), s->release();
}

__global__ void blockBarrier() {
  __shared__ char memory[sizeof(cuda::barrier<cuda::thread_scope_block>)];
  auto &b = *(cuda::barrier<cuda::thread_scope_block> *)memory;
  if (threadIdx.x == 0)
    init(&b, blockDim.x);
  __syncthreads();
  b.arrive_and_wait();
}
