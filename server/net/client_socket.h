// A client's end of a connection that the server has taken in: the descriptor, and the seat that it
// takes up (server/reception.h). Both go together. Thread safety: one owner at a time.
#pragma once

#include <string_view>
#include <utility>

namespace pgsilo {

// Who counts the seats. Any thread.
class Seats {
 public:
  virtual void give_back() = 0;

 protected:
  ~Seats() = default;
};

class ClientSocket {
 public:
  ClientSocket(int descriptor, Seats& seats) : descriptor_(descriptor), seats_(&seats) {}
  ~ClientSocket();
  ClientSocket(ClientSocket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), seats_(other.seats_) {}
  ClientSocket& operator=(ClientSocket&&) = delete;

  int descriptor() const { return descriptor_; }
  // It stays the caller's after all, without a seat.
  int release();

 private:
  int descriptor_;
  Seats* seats_;
};

// Last words for a client whose socket is closed next; `message` is whole. Never waits: room for
// one message is in every new socket.
void say_farewell(int descriptor, std::string_view message);

// Such words (FATAL), ready before memory or anything else runs out.
std::string_view out_of_memory_farewell();

}  // namespace pgsilo
